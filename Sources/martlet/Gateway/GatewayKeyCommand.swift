import ArgumentParser
import PushSupport
import PushTypes

/// `martlet gateway key`: manages the keys that sign provider tokens.
struct GatewayKeyCommand: AsyncParsableCommand {
    static let configuration = command("key", "The keys that sign provider tokens.")
        .example("gateway key create --team DEF123GHIJ")
        .subcommands([ListResources<Key>.self, Create.self, Add.self, RemoveResource<Key>.self])

    /// The keys that sign provider tokens.
    enum Key: GatewayResource, ListableResource, RemovableResource {
        static let path = "keys"
        static let id = ArgumentHelp("Its id.", valueName: "key-id")
        static let columns: TextTable = [
            .init("key id", "keyId"), .init("team", "teamId"), "scope", "environment", "topics",
            .time("revoked", "revokedAt"),
        ]
        static let list = command("list", "List all keys.").example("gateway key list")
        static let remove = command("revoke", "Revoke a key: its provider tokens are rejected from now on.")
            .example("gateway key revoke ABC123DEFG")

        static func removed(_ id: String) -> String { "key \(id) is revoked" }
    }

    /// `martlet gateway key create`: makes a key.
    struct Create: AsyncParsableCommand {
        static let configuration = command("create")
            .help("Make a key, as Apple would issue it: AuthKey_<id>.p8 for the provider.")
            .example("gateway key create --team DEF123GHIJ --scope environment --environment sandbox")

        @OptionGroup var access: AdminOptions
        @OptionGroup var scope: KeyScopeOptions
        @Option(help: "Its id, 10 letters or digits. Default: a new one.") var keyID: String?
        @Option(help: "The directory for the file. Default: the working directory.") var output = "."

        func run() async throws {
            let connection = try await self.access.connection()
            let body = self.scope.members.merging(["generate": true, "keyId": self.keyID?.json]) { $1 }
            let response = try await connection.send(.post(Key.path).body(body))
            guard let id = response["keyId"].stringValue, let key = response["privateKey"].stringValue else {
                throw SettingsError("the gateway made no key: is it of another version?")
            }
            let path = "\(self.output)/AuthKey_\(id).p8"
            do {
                try OutputFile.write(pem: key, to: path, isSecret: true)
            } catch {
                // Without its private part the key is of no use.
                _ = try? await connection.send(.delete(Key.path, id))
                throw error
            }
            try self.access.print(["keyId": id.json, "file": path.json]) { _ in "key \(id) is in \(path)" }
        }
    }

    /// `martlet gateway key add`: registers a key that exists.
    struct Add: RequestCommand {
        static let configuration = command("add", "Register a key that exists; the gateway keeps its public part only.")
            .example("gateway key add AuthKey_ABC123DEFG.p8 --key-id ABC123DEFG --team DEF123GHIJ")

        @OptionGroup var access: AdminOptions
        @OptionGroup var scope: KeyScopeOptions
        @Argument(help: "The .p8 file, or a public key in PEM.") var file: String
        @Option(help: "Its id, 10 letters or digits.") var keyID: String

        func request() throws -> APIRequest {
            let key = ["keyId": self.keyID.json, "key": try InputFile.text(self.file).json]
            return .post(Key.path).body(self.scope.members.merging(key) { $1 })
        }

        func text(of response: JSONValue) -> String { "key \(self.keyID) is registered for team \(self.scope.team)" }
    }
}

/// The options that bound the use of a provider key.
struct KeyScopeOptions: ParsableArguments {
    /// The scopes of keys that Apple issues (reference 2.1).
    enum Scope: String, CaseIterable, ExpressibleByArgument { case team, environment, topics }

    @Option(help: "The team that the key belongs to.") var team: String
    @Option(help: "What the key may be used for: all of a team, one environment, or some topics.")
    var scope: Scope = .team
    @Option(help: "sandbox or production, for the scopes environment and topics.") var environment: PushEnvironment?
    @Option(help: "A topic of the scope topics; repeat it for several.") var topic: [String] = []
    @Option(help: "The id of an earlier key that this one, of scope topics, takes the place of.") var related: String?

    /// The members of the request.
    var members: [String: JSONValue?] {
        [
            "teamId": self.team.json, "scope": self.scope.rawValue.json, "environment": self.environment?.rawValue.json,
            "topics": .texts(self.topic), "relatedKeyId": self.related?.json,
        ]
    }
}
