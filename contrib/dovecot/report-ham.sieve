# A message was moved or copied out of Junk by its user. To throw it away says nothing about it.
require ["vnd.dovecot.pipe", "copy", "imapsieve", "environment", "variables", "special-use"];

if environment :matches "imap.mailbox" "*" {
  set "folder" "${1}";
}
if specialuse_exists "${folder}" "\\Trash" {
  stop;
}
if string :is "${folder}" [ "Trash", "INBOX.Trash", "Deleted Items", "Deleted Messages", "Papierkorb" ] {
  stop;
}
if environment :matches "imap.user" "*" {
  set "user" "${1}";
}
pipe :copy "gillnet-report" [ "ham", "${user}" ];
