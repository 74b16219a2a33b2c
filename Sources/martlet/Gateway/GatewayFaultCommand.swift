import ArgumentParser
import Foundation
import PushSupport

struct GatewayFaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fault",
        abstract: "What a gateway does wrong on command.",
        discussion: "Example: martlet gateway fault add reason=TooManyRequests,topic=com.example.MyApp,percent=20",
        subcommands: [List.self, Add.self, Remove.self, Clear.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List them, with how often each has struck.",
            discussion: "Example: martlet gateway fault list"
        )

        @OptionGroup var admin: AdminOptions

        func run() async throws {
            try await self.admin.list(
                "faults",
                ["faults"],
                [
                    .init("id", "rule.id"), .init("fault", "text"), .init("from", "source"), .init("seen", "seen"),
                    .init("hits", "hits"),
                ]
            )
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add one.",
            discussion: "Example: martlet gateway fault add latency=50ms..200ms,percent=10"
        )

        @OptionGroup var admin: AdminOptions

        @Argument(help: "The fault as name=value,name=value,…, or a JSON file with one fault.")
        var fault: String

        func run() async throws {
            let isFile = FileManager.default.fileExists(atPath: self.fault)
            let body = isFile ? try Self.file(self.fault) : FaultMembers.of(self.fault)
            try await self.admin.show(APIRequest(.post, ["faults"], body: body)) {
                "fault \($0["rule"]["id"].stringValue?.printable ?? "?") is on"
            }
        }

        private static func file(_ path: String) throws -> [String: JSONValue?] {
            guard case .object(let members) = try JSONValue(parsing: Data(OutputFile.read(path).utf8)) else {
                throw SettingsError("\(path) holds no JSON object")
            }
            return members
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove one.",
            discussion: "Example: martlet gateway fault remove fault-1"
        )

        @OptionGroup var admin: AdminOptions

        @Argument(help: "Its id.")
        var id: String

        func run() async throws {
            try await self.admin.show(APIRequest(.delete, ["faults", self.id])) { _ in "fault \(self.id) is off" }
        }
    }

    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove all of them.",
            discussion: "Example: martlet gateway fault clear"
        )

        @OptionGroup var admin: AdminOptions

        func run() async throws {
            try await self.admin.show(APIRequest(.delete, ["faults"])) { _ in "all faults are off" }
        }
    }
}
