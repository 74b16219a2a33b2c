import ArgumentParser
import Foundation
import PushGateway
import PushSupport
import PushTypes

/// `martlet gateway certificate`: manages the certificates of providers.
struct GatewayCertificateCommand: AsyncParsableCommand {
    static let configuration = command("certificate", "The certificates by which providers authenticate.")
        .example("gateway certificate add --topic com.example.MyApp")
        .subcommands([ListResources<Certificate>.self, Add.self, RemoveResource<Certificate>.self])

    enum Certificate: GatewayResource, ListableResource, RemovableResource {
        static let path = "certificates"
        static let id = ArgumentHelp("Its serial number, as the list shows it.", valueName: "serial")
        static let columns: TextTable = [
            "serial", "topic", "topics", "environments", .time("expires", "expiresAt"), .time("revoked", "revokedAt"),
        ]
        static let list = command("list", "List all certificates.").example("gateway certificate list")
        static let remove = command("remove", "Revoke a certificate: connections with it are rejected from now on.")
            .example("gateway certificate remove 4f2a…")

        static func removed(_ id: String) -> String { "certificate \(id) is revoked" }
    }

    /// `martlet gateway certificate add`: issues a certificate and writes its files.
    struct Add: AsyncParsableCommand {
        static let configuration = command("add")
            .help("Issue a certificate, as Apple would: PEM files, and a .p12 if the gateway makes the key.")
            .example(
                """
                gateway certificate add --topic com.example.MyApp --environment sandbox --output apns
                writes apns.pem, apns.key and apns.p12.
                """
            )

        @OptionGroup var access: AdminOptions
        @Option(help: "The app's bundle id.") var topic: String
        @Option(help: "A further topic, such as com.example.MyApp.voip; repeat it for several.")
        var additionalTopic: [String] = []
        @Option(help: "sandbox, production or both.") var environment: EnvironmentChoice = .both
        @Option(help: "A signing request in PEM, for a key that you have. Default: the gateway makes a key.")
        var csr: String?
        @Option(help: "The kind of key that the gateway makes. Default: rsa.")
        var keyType: AdminCertificateRequest.KeyType?
        @Option(help: "The passphrase of the .p12. Default: none.") var passphrase: String?
        @Option(help: "The name of the files without extension. Default: the topic.") var output: String?

        func validate() throws {
            guard self.csr == nil || self.keyType == nil else {
                throw ValidationError("The key of a signing request is made already: leave out --key-type.")
            }
        }

        func run() async throws {
            let request = APIRequest.post(Certificate.path).body(try self.members())
            let response = try await self.access.connection().send(request)
            let base = self.output ?? self.topic
            var files: [String] = []
            for (member, ending, isSecret) in [("certificate", "pem", false), ("privateKey", "key", true)] {
                guard let text = response[member].stringValue else { continue }
                files.append("\(base).\(ending)")
                try OutputFile.write(pem: text, to: "\(base).\(ending)", isSecret: isSecret)
            }
            if let p12 = response["p12"].stringValue.flatMap({ Data(base64Encoded: $0) }) {
                files.append("\(base).p12")
                try OutputFile.write(p12, to: "\(base).p12", isSecret: true)
            }
            let serial = response["serial"].stringValue ?? "?"
            try self.access.print(["serial": serial.json, "files": .array(files.map(\.json))]) { _ in
                "certificate \(serial) is in \(files.joined(separator: ", "))"
            }
        }

        func members() throws -> [String: JSONValue?] {
            let all = PushEnvironment.allCases.map(\.rawValue)
            let environments = self.environment == .both ? all : [self.environment.rawValue]
            return [
                "topic": self.topic.json, "environments": .texts(environments),
                "topics": .texts(self.additionalTopic),
                "csr": try self.csr.map { try InputFile.text($0).json }, "keyType": self.keyType?.rawValue.json,
                "passphrase": self.passphrase?.json,
            ]
        }
    }
}

extension AdminCertificateRequest.KeyType: ExpressibleByArgument {}

/// `martlet gateway authority`: prints the gateway's CA certificate, or writes it to a file.
struct GatewayAuthorityCommand: AsyncParsableCommand {
    static let configuration = command("authority")
        .help("Print or write the certificate that providers and devices have to trust, in PEM.")
        .example("gateway authority --output authority.pem")

    @OptionGroup var access: AdminOptions
    @Option(help: "File to write; default: standard output.") var output: String?

    func run() async throws {
        let response = try await self.access.connection().send(.get("authority"))
        let certificate = response["certificate"].stringValue ?? ""
        guard let output else {
            return try self.access.print(response) { _ in certificate.trimmingCharacters(in: .newlines) }
        }
        try OutputFile.write(pem: certificate, to: output, isSecret: false)
        StandardError.line("wrote \(output)")
    }
}
