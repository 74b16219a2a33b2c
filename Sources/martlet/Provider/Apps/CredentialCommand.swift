import ArgumentParser
import Foundation
import ProviderModel
import PushSender
import PushSupport
import PushTypes

/// `martlet credential`: manages the credentials of an app.
struct CredentialCommand: AsyncParsableCommand {
    static let configuration = command("credential")
        .help("The credentials that an app pushes with, one for each environment.")
        .example("credential set production AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ --app …")
        .subcommands([
            ListResources<Credential>.self, Change.self, Test.self, Feedback.self, RemoveResource<Credential>.self,
            InspectCredential.self, ConvertCredential.self,
        ])

    enum Credential: AppResource, ListableResource, RemovableResource {
        typealias ID = PushEnvironment

        static let path = "credentials"
        static let id = ArgumentHelp("sandbox or production.", valueName: "environment")
        static let columns: TextTable = [
            "environment", "kind", "transport", .init("team", "teamId"), .init("key", "keyId"), "subject", "topics",
            .time("expires", "expiresAtMs"), "fault",
        ]
        static let list = command("list", "List all credentials, without their secrets.")
            .example("credential list --app com.example.MyApp")
        static let remove = command("remove", "Remove a credential: the app cannot push there any more.")
            .example("credential remove sandbox --app com.example.MyApp")

        static func removed(_ id: PushEnvironment) -> String { "the credential for \(id.rawValue) is removed" }
    }

    /// `martlet credential set`: sets the credential of an environment.
    struct Change: AsyncParsableCommand {
        static let configuration = command("set")
            .help("Set a credential from a .p8 key, a .p12 archive or a PEM file; it replaces the earlier one.")
            .detail("The file is read and checked here, then sent to the provider, which seals it.")
            .detail("With --test it is stored only if pushes of the app would be accepted; otherwise the status is 1.")
            .example("credential set sandbox AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ --app com.example.MyApp")

        @OptionGroup var resource: ResourceOptions<Credential>
        @Argument(help: "A .p8 key, a .p12 archive or a PEM file.") var file: String
        @OptionGroup var options: CredentialFileOptions
        @Option(
            help: """
                \(CredentialRequest.object["transport"].words): the protocol for pushes with a certificate. Default: http2.
                """
        )
        var transport: String?
        @Flag(help: "Test it against the push service, and set it only if it works.") var test = false

        func run() async throws {
            let settings = try await self.resource.access.settings([self.options.flags])
            let connection = try AppOptions.connection(settings)
            var body = try self.options.members(of: self.file, settings)
            if let transport { body["transport"] = transport.json }
            if self.test {
                let result = try await connection.send(self.resource.request(.post).action("test").body(body))
                try self.resource.print(result, CredentialTestText.of)
                guard result["works"] == true else {
                    StandardError.line(
                        "\(self.file) is not stored: the credential for \(self.resource.id.rawValue) is the one before"
                    )
                    throw ExitCode.failure
                }
            }
            let response = try await connection.send(self.resource.request(.put).body(body))
            try self.resource.print(response, Credential.columns.details)
        }
    }

    /// `martlet credential feedback`: makes the provider read the legacy feedback service now.
    struct Feedback: ResourceCommand {
        static let configuration = command("feedback")
            .help("Read the environment's feedback service now; it is read every hour anyway.")
            .detail("Devices that it lists become inactive, unless they have registered since.")
            .example("credential feedback production --app com.example.MyApp")

        private static let columns: TextTable = [
            .time("read at", "startedAtMs"), "tokens", "deactivated", "kept", "withheld", "unknown", "error",
            .time("next", "nextAtMs"),
        ]

        @OptionGroup var resource: ResourceOptions<Credential>

        func request() -> APIRequest {
            APIRequest(.post, ["environments", self.resource.id.rawValue]).action("feedback")
        }

        func text(of response: JSONValue) -> String { Self.columns.details(of: response) }
    }

    /// `martlet credential test`: verifies a credential with the push service, without a device.
    struct Test: AsyncParsableCommand {
        static let configuration = command("test")
            .help("Test a credential against the push service, without a device.")
            .detail("Tests the stored credential, or that of a file without storing it. The status is 0 if")
            .detail("pushes of the app would be accepted, 1 if not.")
            .example("credential test production --app com.example.MyApp")

        @OptionGroup var resource: ResourceOptions<Credential>
        @Argument(help: "A .p8 key, a .p12 archive or a PEM file. Default: the stored credential.") var file: String?
        @OptionGroup var options: CredentialFileOptions

        func run() async throws {
            let settings = try await self.resource.access.settings([self.options.flags])
            let connection = try AppOptions.connection(settings)
            let body = try self.file.map { try self.options.members(of: $0, settings) } ?? [:]
            let result = try await connection.send(self.resource.request(.post).action("test").body(body))
            try self.resource.print(result, CredentialTestText.of)
            if result["works"] != true { throw ExitCode.failure }
        }
    }
}

/// The options that name the files of a credential.
struct CredentialFileOptions: ParsableArguments {
    @Option(help: "The private key of a PEM certificate, if it is in another file.") var keyFile: String?
    @Option(help: "Team id, for a .p8 key.") var teamID: String?
    @Option(help: "Key id, for a .p8 key; default: from the file name AuthKey_<key id>.p8.") var keyID: String?
    @OptionGroup var flags: SettingFlags<CredentialSettings>

    /// Returns the JSON members of the request that sets the credential.
    /// - Throws: ``SettingsError`` for files that cannot be used.
    func members(of file: String, _ settings: SettingsReader) throws -> [String: JSONValue?] {
        let passphrase = settings.string(CredentialSettings.passphrase)
        let credential = try InputFile.credential(
            file,
            passphrase: passphrase,
            teamID: self.teamID,
            keyID: self.keyID,
            keyFile: self.keyFile
        )
        let content = try InputFile.data(file)
        let text = String(decoding: content, as: UTF8.self)
        if case .token(let key) = credential {
            return ["teamId": key.teamID.json, "keyId": key.keyID.json, "privateKey": text.json]
        }
        guard text.contains("-----BEGIN ") else {
            guard self.keyFile == nil else {
                throw ValidationError("A provider takes a certificate with a key of its own in PEM, not in DER.")
            }
            return ["p12": content.base64EncodedString().json, "passphrase": passphrase?.json]
        }
        let key = try self.keyFile.map { String(decoding: try InputFile.data($0), as: UTF8.self) }
        let parts = [text, key].compactMap { $0 }.map { $0.hasSuffix("\n") ? $0 : $0 + "\n" }
        return ["certificate": parts.joined().json, "passphrase": passphrase?.json]
    }
}

private enum CredentialTestText {
    /// The columns after a successful test. They omit the reason, which only says that the test's token does not exist.
    private static let columnsOfSuccess: TextTable = [
        .init("round trip ms", "roundTripMs"), .time("expires", "expiresAtMs"),
    ]
    private static let columns: TextTable = [
        "reason", .init("round trip ms", "roundTripMs"), .time("expires", "expiresAtMs"), "message", "advice",
    ]

    /// Returns a line for each step of a credential test, followed by the results of the test.
    static func of(_ test: JSONValue) -> String {
        let address = "\(test["host"].plainText):\(test["port"].plainText)".printable
        let steps = [
            ("connection to \(address)", "reached"), ("TLS", "trusted"), ("credential", "credentialAccepted"),
            ("topic of the app", "topicAllowed"),
        ]
        let lines = steps.map { name, member in
            let result: String
            switch test[member] {
            case .bool(true): result = "ok"
            case .bool(false): result = "failed"
            default: result = "not tested"
            }
            return "\(name): \(result)"
        }
        let columns = test["works"] == true ? Self.columnsOfSuccess : Self.columns
        return (lines + [columns.details(of: test)]).joined(separator: "\n")
    }
}
