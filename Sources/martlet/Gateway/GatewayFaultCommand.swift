import ArgumentParser
import Foundation
import PushSupport

/// `martlet gateway fault`: manages the faults of a gateway.
struct GatewayFaultCommand: AsyncParsableCommand {
    static let configuration = command("fault", "The faults that make a gateway misbehave on purpose.")
        .example("gateway fault add reason=TooManyRequests,topic=com.example.MyApp,percent=20")
        .subcommands([ListResources<Fault>.self, Add.self, RemoveResource<Fault>.self, Clear.self])

    /// The faults of a gateway.
    enum Fault: GatewayResource, ListableResource, RemovableResource {
        static let path = "faults"
        static let id = ArgumentHelp("Its id.")
        static let columns: TextTable = [
            .init("id", "rule.id"), .init("fault", "text"), .init("from", "source"), "seen", "hits",
        ]
        static let list = command("list", "List all faults, with how often each was applied.")
            .example("gateway fault list")
        static let remove = command("remove", "Remove a fault.").example("gateway fault remove fault-1")

        static func removed(_ id: String) -> String { "fault \(id) is off" }
    }

    /// `martlet gateway fault add`: adds a fault.
    struct Add: RequestCommand {
        static let configuration = command("add", "Add a fault.")
            .example("gateway fault add latency=50ms..200ms,percent=10")

        @OptionGroup var access: AdminOptions
        @Argument(help: "The fault as name=value,name=value,…, or a JSON file with one fault.") var fault: String

        func request() throws -> APIRequest {
            let isFile = FileManager.default.fileExists(atPath: self.fault)
            let body: [String: JSONValue?] = isFile ? try InputFile.object(self.fault) : Self.members(self.fault)
            return .post(Fault.path).body(body)
        }

        func text(of response: JSONValue) -> String { "fault \(response["rule"]["id"].plainText.printable) is on" }

        /// The members of a fault that are numbers; all others are texts.
        private static let numbers: Set<String> = [
            "retryAfter", "goAway", "slow", "streamLimit", "after", "dropDevice", "percent", "first", "every", "times",
            "untilMs",
        ]

        /// Returns the members of a fault's text form. A member without a value is `true`.
        private static func members(_ text: String) -> [String: JSONValue] {
            let pairs = text.split(separator: ",").map { part -> (String, JSONValue) in
                let sides = part.split(separator: "=", maxSplits: 1).map(String.init)
                guard sides.count == 2 else { return (String(part), true) }
                guard self.numbers.contains(sides[0]) else { return (sides[0], sides[1].json) }
                let number = Int64(sides[1])?.json ?? Double(sides[1]).map(JSONValue.number)
                return (sides[0], number ?? sides[1].json)
            }
            return Dictionary(pairs) { $1 }
        }
    }

    /// `martlet gateway fault clear`: removes all faults.
    struct Clear: RequestCommand {
        static let configuration = command("clear", "Remove all faults.").example("gateway fault clear")

        @OptionGroup var access: AdminOptions

        func request() -> APIRequest { .delete(Fault.path) }

        func text(of response: JSONValue) -> String { "all faults are off" }
    }
}
