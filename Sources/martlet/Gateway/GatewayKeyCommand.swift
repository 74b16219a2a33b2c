import ArgumentParser
import Foundation
import PushGateway
import PushSupport
import PushTypes

/// `martlet gateway key`: manages the keys that sign provider tokens.
struct GatewayKeyCommand: AsyncParsableCommand {
    static let configuration = command("key", "The keys that sign provider tokens.")
        .example("gateway key add --team DEF123GHIJ")
        .subcommands([ListResources<Key>.self, Add.self, RemoveResource<Key>.self])

    enum Key: GatewayResource, ListableResource, RemovableResource {
        static let path = "keys"
        static let id = ArgumentHelp("Its id.", valueName: "key-id")
        static let columns: TextTable = [
            .init("key id", "keyId"), .init("team", "teamId"), "scope", "environment", "topics",
            .time("revoked", "revokedAt"),
        ]
        static let list = command("list", "List all keys.").example("gateway key list")
        static let remove = command("remove", "Revoke a key: its provider tokens are rejected from now on.")
            .example("gateway key remove ABC123DEFG")

        static func removed(_ id: String) -> String { "key \(id) is revoked" }
    }

    /// `martlet gateway key add`: generates a key and writes its file, or registers an existing key.
    struct Add: AsyncParsableCommand {
        static let configuration = command("add")
            .help("Make a key, as Apple would issue it: AuthKey_<id>.p8 for the provider; or register an existing one.")
            .detail("With a file, the gateway registers that key and keeps only its public part.")
            .example("gateway key add --team DEF123GHIJ --scope environment --environment sandbox")
            .example("gateway key add AuthKey_ABC123DEFG.p8 --team DEF123GHIJ")

        @OptionGroup var access: AdminOptions
        @OptionGroup var scope: KeyScopeOptions
        @Argument(help: "The .p8 file, or a public key in PEM, of an existing key.") var file: String?
        @Option(help: "Its id, 10 letters or digits. Default: from the file name AuthKey_<key id>.p8, or a new one.")
        var keyID: String?
        @Option(help: "The directory for the file of a new key. Default: the working directory.") var output: String?

        func validate() throws {
            guard self.file == nil || self.output == nil else {
                throw ValidationError("--output is for a key that the gateway makes: leave out the file or --output.")
            }
        }

        func run() async throws {
            guard self.file == nil else { return try await self.register() }
            let connection = try await self.access.connection()
            let response = try await connection.send(.post(Key.path).body(try self.members()))
            guard let id = response["keyId"].stringValue, let key = response["privateKey"].stringValue else {
                throw SettingsError("the gateway made no key: is it of another version?")
            }
            let path = "\(self.output ?? ".")/AuthKey_\(id).p8"
            do {
                try OutputFile.write(pem: key, to: path, isSecret: true)
            } catch {
                // The key is useless without its private part.
                _ = try? await connection.send(.delete(Key.path, id))
                throw error
            }
            try self.access.print(["keyId": id.json, "file": path.json]) { _ in "key \(id) is in \(path)" }
        }

        /// Registers the existing key that the file contains with the gateway.
        private func register() async throws {
            let response = try await self.access.connection().send(.post(Key.path).body(try self.members()))
            try self.access.print(response) { response in
                "key \(response["keyId"].plainText) is registered for team \(self.scope.team)".printable
            }
        }

        func members() throws -> [String: JSONValue?] {
            var members = self.scope.members
            guard let file else {
                (members["generate"], members["keyId"]) = (true, self.keyID?.json)
                return members
            }
            guard let id = self.keyID ?? Self.keyID(fileName: file) else {
                throw ValidationError("Give --key-id: the name of the file is not AuthKey_<key id>.p8.")
            }
            (members["keyId"], members["key"]) = (id.json, try InputFile.text(file).json)
            return members
        }

        /// Returns the key id in a file name such as `AuthKey_ABC123DEFG.p8`, or `nil` for another name.
        private static func keyID(fileName: String) -> String? {
            let name = URL(filePath: fileName).lastPathComponent
            guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
            return String(name.dropFirst(8).dropLast(3))
        }
    }
}

extension KeyScopeName: ExpressibleByArgument {}

/// The options that limit the use of a key for provider tokens.
struct KeyScopeOptions: ParsableArguments {
    @Option(help: "The team to which the key belongs.") var team: String
    @Option(help: "What the key may be used for: all of a team, one environment, or some topics.")
    var scope: KeyScopeName = .team
    @Option(help: "sandbox or production, for the scopes environment and topics.") var environment: PushEnvironment?
    @Option(help: "A topic of the scope topics; repeat it for several.") var topic: [String] = []
    @Option(help: "The id of an earlier key that this one, of the scope topics, replaces.") var related: String?

    var members: [String: JSONValue?] {
        [
            "teamId": self.team.json, "scope": self.scope.rawValue.json, "environment": self.environment?.rawValue.json,
            "topics": .texts(self.topic), "relatedKeyId": self.related?.json,
        ]
    }
}

/// `martlet gateway token-key`: manages the key that encrypts device tokens.
struct GatewayTokenKeyCommand: AsyncParsableCommand {
    static let configuration = command("token-key", "The key that seals device tokens.")
        .example("gateway token-key rotate")
        .subcommands([Rotate.self])

    /// `martlet gateway token-key rotate`: replaces the key with a new one.
    struct Rotate: RequestCommand {
        static let configuration = command("rotate")
            .help(
                "Make a new key: each device gets new tokens the next time it asks, and its old ones are then answered with 410."
            )
            .example("gateway token-key rotate")

        @OptionGroup var access: AdminOptions

        func request() -> APIRequest { .post("token-keys") }

        func text(of response: JSONValue) -> String {
            "token key \(response["tokenKeyId"].integerValue ?? 0) seals from now on"
        }
    }
}
