# Completions of hedgerow, of git hedgerow, and of the tools that are links to it, for bash.
# The program itself says what a word may become.

# Fills COMPREPLY; $1 is what bash takes for the current word, $2 the whole of it, then comes the
# command to ask.
_hedgerow_reply() {
    local typed=$1 whole=$2 line files=
    shift 2
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            :files) files=-f ;;
            :directories) files=${files:--d} ;;
            *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("$@" 2>/dev/null)
    # bash splits words at = and :, and replaces only what is behind them.
    COMPREPLY=("${COMPREPLY[@]#"${whole%"$typed"}"}")
    if [[ -n $files ]]; then
        [[ $typed == -*=* ]] && typed=${typed#*=}
        while IFS= read -r line; do
            COMPREPLY+=("$line")
        done < <(compgen "$files" -- "$typed")
        compopt -o filenames 2>/dev/null
    fi
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[/=:] ]]; then
        compopt -o nospace 2>/dev/null
    fi
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
