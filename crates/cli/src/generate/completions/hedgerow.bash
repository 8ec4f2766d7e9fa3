# Completions of hedgerow, of git hedgerow, and of the tools that are links to it, for bash.
# The program itself says what a word may become.

# Sets REPLY to what the shell makes of the word $1, closed to what of it is before the end of a quote,
# and open to the quote that has no end.
_hedgerow_unquote() {
    local rest=$1 char
    REPLY='' closed='' open=''
    while [[ -n $rest ]]; do
        char=${rest:0:1} rest=${rest:1}
        case $open$char in
            \\) REPLY+=${rest:0:1} rest=${rest:1} ;;
            \' | \") open=$char ;;
            "''" | '""') closed=$REPLY open='' ;;
            '"\')
                [[ $rest == [\$\`\"\\]* ]] && char=${rest:0:1} rest=${rest:1}
                REPLY+=$char
                ;;
            *) REPLY+=$char ;;
        esac
    done
}

# Quotes what is in COMPREPLY, which readline inserts as it is: names may come from anybody. $1 is
# the quote that was typed before it.
_hedgerow_quote() {
    local at word char safe='^([[:alnum:]_%+=:,./^@-]|@\{[0-9]+\})+$' end="'\\''"
    for at in "${!COMPREPLY[@]}"; do
        word=${COMPREPLY[at]}
        case $1 in
            \') word=${word//\'/"$end"} ;;
            \")
                for char in '\' '$' '`' '"'; do
                    word=${word//"$char"/"\\$char"}
                done
                # There is no way to write it between these.
                [[ $word == *!* ]] && unset 'COMPREPLY[at]' && continue
                ;;
            *) [[ $word =~ $safe ]] || printf -v word %q "$word" ;;
        esac
        COMPREPLY[at]=$word
    done
}

# Fills COMPREPLY; $1 is what bash takes for the current word, $2 the whole of it, then comes the
# command to ask, in words as they were typed.
_hedgerow_reply() {
    local typed=$1 whole=$2 word line before files='' open='' closed='' REPLY=''
    local -a asked=()
    shift 2
    for word in "$@"; do
        _hedgerow_unquote "$word"
        asked+=("$REPLY")
    done
    _hedgerow_unquote "${whole%"$typed"}"
    before=$REPLY
    _hedgerow_unquote "$typed"
    COMPREPLY=()
    # Of a word with a quote in its middle, readline replaces only a part.
    [[ -n $open && ${typed#"$open"} == *"$open"* || $typed == *\$\'* ]] && return
    while IFS= read -r line; do
        case $line in
            :files) files=-f ;;
            :directories) files=${files:--d} ;;
            *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("${asked[@]}" 2>/dev/null)
    # bash splits words at = and :, and at quotes, and replaces only what is behind them.
    COMPREPLY=("${COMPREPLY[@]#"$before$closed"}")
    if [[ -n $files ]]; then
        [[ $typed == -*=* ]] && typed=${typed#*=}
        while IFS= read -r line; do
            COMPREPLY+=("$line")
        done < <(compgen "$files" -- "$typed")
        # With this, readline quotes by itself.
        compopt -o filenames 2>/dev/null || _hedgerow_quote "$open"
    fi
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[/=:] ]]; then
        compopt -o nospace 2>/dev/null
    fi
    [[ -n $files ]] || _hedgerow_quote "$open"
}

# Completes the words of the program $1, which are in COMP_WORDS.
_hedgerow_complete() {
    local program=hedgerow word at typed=${COMP_WORDS[COMP_CWORD]}
    local before=${COMP_LINE:0:COMP_POINT}
    local -a words=()
    for ((at = 1; at <= COMP_CWORD; at++)); do
        word=${COMP_WORDS[at]}
        if ((${#words[@]})) && [[ $word == [=:]* || ${COMP_WORDS[at - 1]} == *[=:] ]] &&
            [[ $before == *"${words[-1]}$word"* ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    [[ $typed == [=:] ]] && typed=
    [[ ${COMP_WORDS[0]##*/} == *hedgerow ]] && program=${COMP_WORDS[0]/#\~\//"$HOME"/}
    _hedgerow_reply "$typed" "${words[-1]}" "$program" generate candidates "$1" -- "${words[@]}"
}

_hedgerow() {
    _hedgerow_complete hedgerow
}

_hedgerow_tool() {
    _hedgerow_complete "${COMP_WORDS[0]##*/}"
}

# git's completions call this for git hedgerow, with the words in `words` and `cword`.
_git_hedgerow() {
    local at=1 typed=${COMP_WORDS[COMP_CWORD]}
    while ((at < cword)) && [[ ${words[at]} != hedgerow ]]; do
        ((at++))
    done
    [[ $typed == [=:] ]] && typed=
    _hedgerow_reply "$typed" "${words[cword]}" "${words[@]:0:at}" hedgerow \
        generate candidates hedgerow -- "${words[@]:at+1:cword-at}"
}

complete -F _hedgerow hedgerow git-hedgerow
for _hedgerow_name in gensquashfs mksquashfs rdsquashfs sqfs2tar sqfsdiff sqfstar tar2sqfs unsquashfs; do
    if [[ $(type -P "$_hedgerow_name") -ef $(type -P hedgerow) ]]; then
        complete -F _hedgerow_tool "$_hedgerow_name"
    fi
done
unset _hedgerow_name
