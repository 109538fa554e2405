internal import ArgumentParser

/// `humon completion`
struct CompletionCommand: ParsableCommand {
    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash
        case zsh
        case fish

        fileprivate var parserShell: CompletionShell {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }
    }

    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: "Print a script that lets a shell complete humon's commands and options.",
        discussion: """
            bash: source the script in ~/.bashrc. zsh: save it as _humon in a directory of fpath. fish: save it as \
            ~/.config/fish/completions/humon.fish.

            EXAMPLE: humon completion bash > ~/.local/share/bash-completion/completions/humon
            """
    )

    @Argument(help: "The shell.")
    var shell: Shell

    func run() throws { try StandardOutput.write(Humon.completionScript(for: shell.parserShell) + "\n") }
}
