# Completions of hedgerow, of git hedgerow, and of the tools that are links to it, for fish.
# The program itself says what a word may become.

function __hedgerow_candidates --argument-names program
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    # The quote may be open.
    set -l current (string unescape -- "$typed"; or string unescape -- "$typed'"; or string unescape -- "$typed\""; or echo "$typed")
    set -l before (string match -r -- '^-[^=]*=' "$current")
    set -l asked hedgerow
    if test "$words[1]" = git
        set -l at (contains -i -- hedgerow $words)
        set asked $words[1..$at]
        set words $words[$at..-1]
    end
    set -e words[1]
    for line in (command $asked generate candidates $program -- $words "$current" 2>/dev/null)
        switch $line
            case :files
                for path in (__fish_complete_path (string replace -r -- '^-[^=]*=' '' "$current"))
                    echo "$before$path"
                end
            case :directories
                for path in (__fish_complete_directories (string replace -r -- '^-[^=]*=' '' "$current") '')
                    echo "$before$path"
                end
            case '*'
                echo $line
        end
    end
end

complete -c hedgerow -f -a '(__hedgerow_candidates hedgerow)'
complete -c git-hedgerow -f -a '(__hedgerow_candidates hedgerow)'
complete -c git -n '__fish_seen_subcommand_from hedgerow' -f -a '(__hedgerow_candidates hedgerow)'
complete -c git -n '__fish_is_nth_token 1' -f -a hedgerow -d 'Move file trees in parallel'
for tool in gensquashfs mksquashfs rdsquashfs sqfs2tar sqfsdiff sqfstar tar2sqfs unsquashfs
    set -l path (command -s $tool)
    and test (path resolve $path) = (path resolve (command -s hedgerow; or echo /))
    and complete -c $tool -f -a "(__hedgerow_candidates $tool)"
end
