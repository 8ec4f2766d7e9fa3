#compdef hedgerow git-hedgerow gensquashfs mksquashfs rdsquashfs sqfs2tar sqfsdiff sqfstar tar2sqfs unsquashfs
#description move file trees in parallel
# Completions of hedgerow, of git hedgerow, and of the tools that are links to it, for zsh.
# The program itself says what a word may become.

local program=hedgerow line value about files
local -a asked plain shown open

case $service in
  gensquashfs|mksquashfs|rdsquashfs|sqfs2tar|sqfsdiff|sqfstar|tar2sqfs|unsquashfs)
    # The tool may be that of squashfs-tools-ng.
    if [[ ! $commands[$service] -ef $commands[hedgerow] ]]; then
      _default
      return
    fi
    program=$service
    ;;
esac

asked=(${(f)"$(command hedgerow generate candidates $program -- \
  "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)"})
for line in $asked; do
  case $line in
    :files) files=files ;;
    :directories) files=${files:-directories} ;;
    *)
      value=${line%%$'\t'*}
      about=${line#*$'\t'}
      if [[ $value == *[/=:] ]]; then
        open+=($value)
      else
        plain+=($value)
        [[ $line == *$'\t'?* ]] && shown+=("$value -- $about") || shown+=($value)
      fi
      ;;
  esac
done

local found=1
(( $#plain )) && compadd -l -d shown -a plain && found=0
(( $#open )) && compadd -S '' -a open && found=0
if [[ -n $files ]]; then
  [[ $PREFIX == -*=* ]] && compset -P '*='
  if [[ $files == files ]]; then
    _files && found=0
  else
    _files -/ && found=0
  fi
fi
return found
