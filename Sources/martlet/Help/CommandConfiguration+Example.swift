import ArgumentParser

extension CommandConfiguration {
    /// Makes the configuration of a command from its name and what it does.
    /// - Parameters:
    ///   - more: further sentences of the help text.
    ///   - example: the words after `martlet` of an example.
    init(
        _ name: String,
        _ abstract: String,
        _ more: String? = nil,
        example: String? = nil,
        subcommands: [any ParsableCommand.Type] = [],
        defaultSubcommand: (any ParsableCommand.Type)? = nil
    ) {
        let example = example.map { "Example: martlet \($0)" }
        self.init(
            commandName: name,
            abstract: abstract,
            discussion: [more, example].compactMap { $0 }.joined(separator: "\n\n"),
            subcommands: subcommands,
            defaultSubcommand: defaultSubcommand
        )
    }

    /// Returns the configuration with an example.
    /// - Parameter words: the words after `martlet`.
    func example(_ words: String) -> CommandConfiguration {
        var configuration = self
        configuration.discussion = "Example: martlet \(words)"
        return configuration
    }
}
