import ArgumentParser
import Testing

@testable import martlet

/// Commands and options as the version before spelled them.
@Suite struct FormerSpellingTests {
    @Test func aFormerCommandIsTranslatedWithAWarning() {
        let (words, warnings) = FormerSpelling.translated(["gateway", "key", "create", "--team", "DEF123GHIJ"])
        #expect(words == ["gateway", "key", "add", "--team", "DEF123GHIJ"])
        #expect(warnings.count == 1 && warnings[0].contains("'gateway key create' is now 'gateway key add'"))
        #expect(FormerSpelling.translated(["help", "key", "revoke"]).words == ["help", "key", "remove"])
    }

    @Test func aFormerOptionIsTranslatedWithItsValue() {
        let (words, warnings) = FormerSpelling.translated(["device", "run", "--admin=http://a", "--topic", "b"])
        #expect(words == ["device", "run", "--admin-url=http://a", "--topic", "b"] && warnings.count == 1)
    }

    @Test(arguments: [
        ["schedule", "set", "a.json", "--id", "7d6f", "--name", "b"],
        ["schedule", "set", "a.json", "--id=7d6f", "--name", "b"],
        ["schedule", "set", "--id", "7d6f", "a.json", "--name", "b"],
    ])
    func anOptionThatIsAnArgumentNowIsMoved(words: [String]) {
        let translated = FormerSpelling.translated(words)
        #expect(translated.words == ["schedule", "set", "7d6f", "a.json", "--name", "b"])
        #expect(translated.warnings.count == 1)
    }

    @Test(arguments: [
        [], ["schedule", "set", "a.json", "--id"], ["help"], ["key"], ["key", "add", "create"],
        ["send", "key", "create"],
    ])
    func otherWordsStayAsTheyAre(words: [String]) {
        let translated = FormerSpelling.translated(words)
        #expect(translated.words == words && translated.warnings.isEmpty)
    }

    /// A former spelling leads to a command of this version, and is none itself.
    @Test func everyTranslationIsACommand() {
        func find(_ names: [String]) -> (any ParsableCommand.Type)? {
            names.reduce(MartletCommand.self as (any ParsableCommand.Type)?) { command, name in
                let configuration = command?.configuration
                let children =
                    (configuration?.subcommands ?? [])
                    + (configuration?.groupedSubcommands.flatMap(\.subcommands) ?? [])
                return children.first { $0._commandName == name }
            }
        }
        for change in FormerSpelling.commands {
            #expect(find(change.current) != nil, "\(change.current)")
            #expect(find(change.former) == nil, "\(change.former)")
        }
    }
}
