// The least a plugin can be: two functions of a module, none of the optional ones.

export const getToolSchemas = (): object[] => [];

export const executeTool = ({ toolName }: { toolName: string }): object => ({ success: true, result: toolName });
