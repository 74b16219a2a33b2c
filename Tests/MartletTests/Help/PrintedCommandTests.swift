import ArgumentParser
import Foundation
import PushTesting
import Testing

@testable import martlet

/// The commands that the program prints, the pages show and the documents teach: each is parsed as if it had been typed.
@Suite(.timeLimit(.patience)) struct PrintedCommandTests {
    /// A command as it is written somewhere.
    private struct Printed: Sendable {
        var place: String
        var text: String
        /// Indicates whether it may lack arguments, as a name of a command in a sentence does.
        var isMention: Bool
    }

    private static let root = {
        var root = URL(filePath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        return root
    }()

    /// The values of placeholders that have to be of a form.
    private static let samples = [
        "TOKEN": String(repeating: "00", count: 32), "ID": Self.id, "ISSUE": Self.id, "UUID": Self.id,
        "APNS-ID": Self.id,
        "ENVIRONMENT": "sandbox", "$token": String(repeating: "00", count: 32), "$channel": "AAAAAAAAAAAAAAAAAAAAAA==",
    ]
    private static let id = "9e1c0000-0000-4000-8000-000000000000"

    private static func files(in folder: String, endings: Set<String>) throws -> [URL] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: Self.root.appending(path: folder).path)
        return paths.map { Self.root.appending(path: folder).appending(path: $0) }
            .filter { endings.contains($0.pathExtension) }
    }

    /// Returns a value for an interpolated expression.
    private static func sample(_ expression: Substring) -> String {
        let name = expression.lowercased()
        if name.contains("environment") { return "sandbox" }
        return name.hasSuffix("id") || name.contains("uuid") ? Self.id : "com.example.MyApp"
    }

    /// Returns a line with values in place of its interpolations.
    private static func filled(_ line: String) -> String {
        line.replacing(/\\\((?<name>(?:[^()]|\([^()]*\))*)\)/) { Self.sample($0.output.name) }
            .replacing(/\{\{(?<name>[^{}]*)\}\}/) { Self.sample($0.output.name) }
            .replacing(/\{(?<name>[a-zA-Z]+)\}/) { Self.sample($0.output.name) }
    }

    /// The commands in the texts of the program: in quotes within a sentence, or at its end.
    private static func ofSources() throws -> [Printed] {
        var printed: [Printed] = []
        for file in try Self.files(in: "Sources", endings: ["swift"]) {
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                guard line.contains("martlet "), !line.drop(while: { $0 == " " }).hasPrefix("//") else { continue }
                let line = Self.filled(String(line))
                for match in line.matches(of: /['`](?<command>martlet [a-z][^'`]*)['`]/) {
                    printed.append(.init(place: file.path, text: String(match.output.command), isMention: true))
                }
                for match in line.matches(of: /[" (](?<command>martlet [a-z].*?)(?:"|: |\. |; |, | \(|\)|\\?$)/) {
                    let text = String(match.output.command)
                    guard try Self.isCommand(text) else { continue }
                    printed.append(.init(place: file.path, text: text, isMention: false))
                }
            }
        }
        return printed
    }

    /// The commands that the pages show.
    private static func ofPages() throws -> [Printed] {
        try Self.files(in: "Sources", endings: ["mustache", "json"]).flatMap { file in
            let text = Self.filled(try String(contentsOf: file, encoding: .utf8)).replacing("\\n", with: "\n")
            return text.matches(of: /martlet [a-z][^<\n`"]*/).map {
                Printed(place: file.path, text: String($0.output), isMention: false)
            }
        }
    }

    /// The commands of the documents: whole in blocks of code, or named within a sentence.
    private static func ofDocuments() throws -> [Printed] {
        let files = try Self.files(in: "docs", endings: ["md"]).filter { !$0.path.contains("/decisions/") }
        return try (files + [Self.root.appending(path: "README.md")]).flatMap { file in
            let text = try String(contentsOf: file, encoding: .utf8).replacing("\\\n", with: " ")
            let blocks = text.matches(of: /(?m)^ *(?:\$ )?(?<line>martlet [a-z][^\n|#]*)/).map {
                Printed(place: file.path, text: String($0.output.line), isMention: false)
            }
            let mentions = text.matches(of: /`(?<command>martlet [a-z][^`\n]*)`/).map {
                Printed(place: file.path, text: String($0.output.command), isMention: true)
            }
            return blocks + mentions
        }
    }

    /// Returns `true` if a text begins with the name of a command.
    private static func isCommand(_ text: String) throws -> Bool {
        try Self.names.get().contains(Self.words(text).first ?? "")
    }

    private static let names = Result { Set(try CommandTree.root().children.map(\.commandName)) }

    /// All commands, each once: a debug build examines the whole tree of commands each time that it parses.
    private static let all = Result {
        var seen: Set<String> = []
        return try (Self.ofSources() + Self.ofPages() + Self.ofDocuments()).filter { printed in
            seen.insert("\(printed.isMention) \(printed.text)").inserted
        }
    }

    /// Returns the words after `martlet` as a shell would, up to a pipe or a redirection, with values for placeholders.
    private static func words(_ text: String) -> [String] {
        var (words, word, quote) = ([String](), "", nil as Character?)
        var isWord = false
        for character in text.replacing(/\$\([^)]*\)/, with: "x") + " " {
            switch (quote, character) {
            case (let open?, character) where open == character: quote = nil
            case (nil, "'"), (nil, "\""): (quote, isWord) = (character, true)
            case (nil, " "):
                if isWord || !word.isEmpty { words.append(word) }
                (word, isWord) = ("", false)
            default: word.append(character)
            }
        }
        let ends: Set<String> = ["|", ">", "<", "&", "&&", "||", ";", "\\"]
        return words.dropFirst().prefix {
            !ends.contains($0) && !$0.hasPrefix("2>") && !$0.hasPrefix("<") && !$0.hasPrefix(">")
        }
        .filter { $0 != "…" }.map { Self.samples[$0] ?? $0 }
    }

    /// The labels in documents that look like commands.
    private static let labels: Set = ["martlet push 1"]

    @Test func eachIsOneThatTheProgramTakes() throws {
        let all = try Self.all.get()
        #expect(all.count > 200)
        for printed in all where !Self.labels.contains(printed.text) {
            let words = FormerSpelling.translated(Self.words(printed.text.trimmingCharacters(in: ["."]))).words
            // A sentence names a command without its arguments; an ellipsis stands for some.
            let isPart = printed.isMention || printed.text.contains("…")
            let fault = Self.fault(words, isPart: isPart, in: try CommandTree.root())
            #expect(fault == nil, "\(printed.place): \(printed.text)")
        }
    }

    /// The check finds what it is for.
    @Test func faultsAreFound() throws {
        let commands = [
            "credential set com.example.A sandbox key.p8", "credential sett sandbox key.p8", "app list --apps x",
            "app retry", "credential remove", "app list --server", "user history",
        ]
        let root = try CommandTree.root()
        for command in commands {
            #expect(
                Self.fault(command.split(separator: " ").map(String.init), isPart: false, in: root) != nil,
                "\(command)"
            )
        }
    }

    /// The program's own parser agrees with the check.
    @Test(arguments: ["app retry", "app list --apps x"]) func theParserAgrees(command: String) throws {
        let words = command.split(separator: " ").map(String.init)
        #expect(Self.fault(words, isPart: false, in: try CommandTree.root()) != nil)
        #expect(throws: (any Error).self) { try MartletCommand.parseAsRoot(words) }
    }

    /// Returns the reason for which the program would not take some words; `nil` if it would.
    ///
    /// The description of all commands tells it: a debug build of the parser itself takes seconds for each of them.
    private static func fault(_ words: [String], isPart: Bool, in root: CommandTree) -> String? {
        var (command, rest) = (root, words[...])
        while let child = command.subcommands?.first(where: { $0.commandName == rest.first }) {
            (command, rest) = (child, rest.dropFirst())
            // The names of commands follow.
            if command.commandName == "help" { return nil }
        }
        if let name = command.defaultSubcommand,
            let child = command.subcommands?.first(where: { $0.commandName == name })
        {
            command = child
        }
        guard command.subcommands?.isEmpty ?? true else {
            return rest.allSatisfy { $0.hasPrefix("--") } ? nil : "there is no command \(rest.first ?? "")"
        }
        return Self.fault(ofArguments: rest, of: command.arguments ?? [], isPart: isPart)
    }

    private static func fault(
        ofArguments words: ArraySlice<String>,
        of arguments: [CommandTree.Argument],
        isPart: Bool
    ) -> String? {
        var (rest, values, takesMore) = (words, [String](), false)
        while let word = rest.popFirst() {
            if word == "--" {
                values += rest
                break
            }
            guard word.hasPrefix("-"), word != "-" else {
                if !takesMore { values.append(word) }
                continue
            }
            let name = String(word.prefix { $0 != "=" })
            guard let option = arguments.first(where: { $0.names?.contains { $0.spelling == name } == true }) else {
                return "there is no option \(name)"
            }
            takesMore = option.kind == "option" && option.isRepeating
            if option.kind == "option", name == word, rest.popFirst() == nil, !isPart { return "\(name) has no value" }
        }
        let positional = arguments.filter { $0.kind == "positional" }
        if values.count > positional.count, positional.last?.isRepeating != true { return "it has too many arguments" }
        if values.count < positional.count(where: { !$0.isOptional }), !isPart { return "it has too few arguments" }
        let environments: Set = ["sandbox", "production"]
        let isMisplaced = zip(positional, values).contains {
            $0.valueName == "environment" && !environments.contains($1)
        }
        return isMisplaced ? "an environment is no environment" : nil
    }
}
