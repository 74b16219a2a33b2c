import Foundation
import PushTesting
import Testing

@testable import martlet

/// The tree of commands, and what is generated from it or has to agree with it.
@Suite struct CommandTreeTests {
    private static let repository = {
        var root = URL(filePath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        return root
    }()

    /// All commands by their words after `martlet`.
    private static func commands() throws -> [[String]: CommandTree] {
        func add(_ command: CommandTree, _ words: [String], to commands: inout [[String]: CommandTree]) {
            commands[words] = command
            for child in command.children { add(child, words + [child.commandName], to: &commands) }
        }
        var commands: [[String]: CommandTree] = [:]
        add(try CommandTree.root(), [], to: &commands)
        return commands
    }

    /// The files that teach names to people.
    private static func documents() throws -> [(name: String, text: String)] {
        let docs = try FileManager.default.contentsOfDirectory(
            at: Self.repository.appending(path: "docs"),
            includingPropertiesForKeys: nil
        )
        let others = ["README.md", "packaging/martlet.service", "packaging/Dockerfile"]
        let files = docs.filter { $0.pathExtension == "md" } + others.map { Self.repository.appending(path: $0) }
        return try files.filter { FileManager.default.fileExists(atPath: $0.path) }
            .map { ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8)) }
    }

    /// The help of all commands.
    private static func helpTexts() throws -> [(name: String, text: String)] {
        try Self.commands().map { words, command in
            let arguments = command.shownArguments.map { $0.abstract ?? "" }
            return (
                "martlet \(words.joined(separator: " "))",
                ([command.abstract ?? "", command.discussion ?? ""] + arguments).joined(separator: "\n")
            )
        }
    }

    @Test func everyCommandHasASentenceAndAnExample() throws {
        for (words, command) in try Self.commands() where !words.isEmpty {
            #expect(command.abstract?.isEmpty == false, "\(words)")
            #expect(!command.examples.isEmpty, "\(words) has no example")
            for argument in command.shownArguments {
                #expect(argument.abstract?.hasSuffix(".") == true, "\(words): \(argument.identity)")
            }
        }
    }

    /// The verbs that every kind of record shares are the only ones for these ideas.
    @Test func formerVerbsAreNotInUse() throws {
        for words in try Self.commands().keys {
            let isFormer = ["create", "delete", "change"].contains(words.last)
            #expect(!isFormer, "\(words)")
        }
    }

    @Test func documentsAndHelpTeachOnlyVariablesThatExist() throws {
        let ofTheBuild: Set<String> = ["MARTLET_COMMIT", "MARTLET_IMAGE", "MARTLET_SHARED_BUILD"]
        let current = Set(SettingTable.all.flatMap(\.settings).map(\.environmentVariable))
        var count = 0
        for (name, text) in try Self.documents() + Self.helpTexts() {
            for match in text.matches(of: /MARTLET_[A-Z0-9_]+/) {
                let variable = String(match.output)
                count += 1
                // A prefix such as MARTLET_GATEWAY_RULES_ stands for all settings of a group.
                let isPrefix = variable.hasSuffix("_") && current.contains { $0.hasPrefix(variable) }
                #expect(isPrefix || ofTheBuild.contains(variable) || current.contains(variable), "\(name): \(variable)")
            }
        }
        #expect(count > 100)
    }

    @Test func documentsAndHelpTeachOnlyKeysThatExist() throws {
        let (names, former) = (SettingNames.all, Set(SettingTable.all.flatMap(\.settings).flatMap(\.formerKeys)))
        var count = 0
        for (name, text) in try Self.documents() + Self.helpTexts() {
            for match in text.matches(
                of: /[`(](?<key>(serve|gateway|device|api|send|credential|log)\.[A-Za-z0-9.]+)[`;)]/
            ) {
                let key = String(match.output.key)
                guard !key.hasSuffix(".md"), !key.hasSuffix(".sqlite") else { continue }
                count += 1
                let mayBeFormer = ["settings.md"].contains(name)
                #expect(names.groups.contains(key) || names.byKey[key] != nil, "\(name): \(key)")
                #expect(mayBeFormer || !former.contains(key), "\(name): \(key) is the former name")
            }
        }
        #expect(count > 100)
    }

    /// Each command and each option of an example exists, in the help and in the code blocks of the documents.
    @Test func examplesNameOnlyCommandsAndOptionsThatExist() throws {
        let commands = try Self.commands()
        var examples = commands.values.flatMap(\.examples).map { ("help", $0) }
        for (name, text) in try Self.documents() {
            let joined = text.replacing("\\\n", with: " ")
            for match in joined.matches(of: /(?m)^ *(?:\$ )?(?<line>martlet [a-z][^\n|#]*)/) {
                examples.append((name, String(match.output.line)))
            }
        }
        #expect(examples.count > 80)
        for (name, example) in examples {
            let words = example.split(whereSeparator: \.isWhitespace).dropFirst().map(String.init)
            var path: [String] = []
            for word in words {
                guard commands[path + [word]] != nil else { break }
                path.append(word)
            }
            guard let command = commands[path], path.first != "help" else { continue }
            #expect(!path.isEmpty, "\(name): \(example)")
            let runs = command.defaultSubcommand.flatMap { commands[path + [$0]] } ?? command
            #expect(runs.children.isEmpty, "\(name): \(example) names no command")
            let known = Set(runs.shownArguments.flatMap { $0.names ?? [] }.map(\.spelling))
            for word in words.dropFirst(path.count) where word.hasPrefix("--") && word.count > 2 {
                let option = String(word.prefix { $0 != "=" })
                #expect(known.contains(option), "\(name): \(option) in \(example)")
            }
        }
    }

    @Test func exitStatusesInTheDocumentAreThoseOfTheProgram() throws {
        let text = try #require(try Self.documents().first { $0.name == "commands.md" }).text.replacing("`", with: "")
        for status in ExitStatus.allCases { #expect(text.contains("| \(status.rawValue) | \(status.meaning) |")) }
    }

    @Test func everyCommandHasItsPlaceInTheManual() throws {
        let date = Date(timeIntervalSince1970: 1_795_000_000)
        let pages = Dictionary(uniqueKeysWithValues: try ManualPage.all(date: date).map { ($0.name, $0.text) })
        for (words, command) in try Self.commands() where command.children.isEmpty {
            let page = try #require(pages["martlet-\(words.first ?? "").1"], "\(words)")
            #expect(page.contains("martlet \(words.joined(separator: " "))\""), "\(words)")
            for argument in command.shownArguments {
                let option = argument.names?.first.map { ".It Fl -\($0.name)" } ?? ".It Ar \(argument.valueName ?? "")"
                #expect(page.contains(option), "\(words) \(option)")
            }
        }
        for (name, page) in pages {
            #expect(page.hasPrefix(".Dd \"November 18, 2026\"\n.Dt "), "\(name)")
            for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "ENVIRONMENT", "FILES", "EXIT STATUS", "SEE ALSO"] {
                #expect(page.contains(".Sh \(section)") || page.contains(".Sh \"\(section)\""), "\(name) \(section)")
            }
        }
        #expect(pages["martlet-send.1"]?.contains(".Sh EXAMPLES\n") == true)
        #expect(pages["martlet-serve.1"]?.contains(".It Ev MARTLET_SERVE_SANDBOX_SERVICE\n") == true)
    }

    @Test func manualPagesAreWrittenToADirectory() async throws {
        try await withTemporaryDirectory { directory in
            let output = "\(directory)/man/man1"
            let text = try await martlet(["help", "man", "--output", output])
            let files = try FileManager.default.contentsOfDirectory(atPath: output)
            #expect(text == "\(files.count) manual pages are in \(output)" && files.contains("martlet.1"))
            let file = await failure { try await martlet(["help", "man", "--output", "\(output)/martlet.1"]) }
            #expect(file?.contains("--output: \(output)/martlet.1 cannot be written") == true)
            #expect(await failure { try await martlet(["help", "man"]) }?.contains("--output") == true)
        }
    }

    /// A real bash completes the words of commands and options.
    @Test func bashCompletes() async throws {
        let script = try await martlet(["help", "completions", "bash"])
        for (line, expected) in [
            ("martlet gatew", "gateway"), ("martlet gateway key ", "list add remove"),
            ("martlet send --wait-", "--wait-seconds"),
        ] {
            let text = try await Self.completions(of: line, by: script)
            #expect(text.contains(expected), "\(line): \(text)")
        }
    }

    /// Returns what a bash that has read a script completes a line to.
    private static func completions(of line: String, by script: String) async throws -> String {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map { "'\($0)'" }.joined(
            separator: " "
        )
        let test = """
            \(script)
            complete -p martlet >/dev/null || exit 1
            COMP_WORDS=(\(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_LINE='\(line)'; COMP_POINT=${#COMP_LINE}
            _martlet martlet "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            echo "${COMPREPLY[@]}"
            """
        return try await withTemporaryDirectory { directory in
            let file = "\(directory)/test.bash"
            try test.write(toFile: file, atomically: true, encoding: .utf8)
            let bash = Process()
            let output = Pipe()
            bash.executableURL = URL(filePath: "/bin/bash")
            bash.arguments = [file]
            bash.standardOutput = output
            try bash.run()
            let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            bash.waitUntilExit()
            #expect(bash.terminationStatus == 0)
            return text
        }
    }

    @Test func anUnknownShellIsNamed() async throws {
        let text = await failure { try await martlet(["help", "completions", "csh"]) }
        #expect(text?.contains("one of zsh, bash, fish") == true)
    }
}
