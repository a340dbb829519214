# SPDX-License-Identifier: GPL-2.0-or-later
# Completion of numaioctl for bash.

# The ids that numaioctl itself lists, with the same socket or root as on the command line.
_numaioctl_ids() {
    local i list=$1 places=()

    for ((i = 1; i < ${#words[@]} - 1; i++)); do
        case ${words[i]} in
            --root | --socket | --policy) places+=("${words[i]}" "${words[i + 1]/#\~/$HOME}") ;;
        esac
    done
    "${words[0]}" "${places[@]}" "$list" --json 2>/dev/null | sed -n 's/^      "id": "\(.*\)",$/\1/p'
}

_numaioctl() {
    local cur prev words cword verb='' i
    local verbs='status topology devices device plan apply decisions explain measure watch restore capture'
    local options='--json --changes --interval --count --socket --root --policy -h --help --version'

    _get_comp_words_by_ref -n : cur prev words cword || return
    case $prev in
        --root)
            mapfile -t COMPREPLY < <(compgen -d -- "$cur")
            return
            ;;
        --interval | --count) return ;;
        --socket | --policy)
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            return
            ;;
    esac
    if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
        return
    fi
    for ((i = 1; i < cword; i++)); do
        case ${words[i]} in
            --root | --socket | --policy | --interval | --count) i=$((i + 1)) ;;
            -*) ;;
            *)
                verb=${words[i]}
                break
                ;;
        esac
    done
    case $verb in
        '') mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$cur") ;;
        device | apply | restore | measure) mapfile -t COMPREPLY < <(compgen -W "$(_numaioctl_ids devices)" -- "$cur") ;;
        capture) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
        explain) mapfile -t COMPREPLY < <(compgen -W "$(_numaioctl_ids decisions)" -- "$cur") ;;
    esac
    __ltrim_colon_completions "$cur"
}
complete -F _numaioctl numaioctl
