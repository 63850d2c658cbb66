-- Ends a transaction that was planned from memory when the memory is not true any more. The plane then reads and plans again, so the line
-- in the server's log is no fault, and it says so.
create function state.sure(is_so boolean) returns boolean language plpgsql as $$
begin
  if is_so then return true; end if;
  raise exception 'toolplane planned this change from memory that is not true any more; it reads and plans again, nothing is lost'
    using errcode = 'TP008';
end $$;
