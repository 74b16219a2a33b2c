import ArgumentParser
import Foundation
import PushGateway
import PushSupport

/// `martlet gateway fault`: manages the faults of a gateway.
struct GatewayFaultCommand: AsyncParsableCommand {
    static let configuration = command("fault", "The faults that make a gateway misbehave on purpose.")
        .example("gateway fault add reason=TooManyRequests,topic=com.example.MyApp,percent=20")
        .subcommands([ListResources<Fault>.self, Add.self, RemoveResource<Fault>.self, Clear.self])

    /// The faults that a gateway injects on purpose.
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
            if isFile { return .post(Fault.path).body(try InputFile.object(self.fault)) }
            do {
                return .post(Fault.path).body(try FaultText.members(self.fault))
            } catch {
                throw ValidationError([error.path, error.message].compactMap { $0 }.joined(separator: ": "))
            }
        }

        func text(of response: JSONValue) -> String { "fault \(response["rule"]["id"].plainText.printable) is on" }
    }

    /// `martlet gateway fault clear`: removes all faults.
    struct Clear: RequestCommand {
        static let configuration = command("clear", "Remove all faults.").example("gateway fault clear")

        @OptionGroup var access: AdminOptions

        func request() -> APIRequest { .delete(Fault.path) }

        func text(of response: JSONValue) -> String { "all faults are off" }
    }
}
