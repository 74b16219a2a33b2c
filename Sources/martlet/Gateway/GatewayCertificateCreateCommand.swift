import ArgumentParser
import Foundation
import PushSupport
import PushTypes

struct GatewayCertificateCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Issue one, as Apple would: PEM files, and a .p12 where the gateway makes the key.",
        discussion: """
            Example: martlet gateway certificate create --topic com.example.MyApp --environment sandbox --output apns
            writes apns.pem, apns.key and apns.p12.
            """
    )

    enum KeyType: String, CaseIterable, ExpressibleByArgument {
        case rsa
        case p256
    }

    @OptionGroup var admin: AdminOptions

    @Option(help: "The app's bundle id.")
    var topic: String

    @Option(help: "A further topic, such as com.example.MyApp.voip; repeat it for several.")
    var additionalTopic: [String] = []

    @Option(help: "sandbox, production or both.")
    var environment: GatewayListenerOptions.Choice = .both

    @Option(help: "A signing request in PEM, for a key that you have. Default: the gateway makes a key.")
    var csr: String?

    @Option(help: "The kind of key that the gateway makes. Default: rsa.")
    var keyType: KeyType?

    @Option(help: "Of the .p12. Default: none.")
    var passphrase: String?

    @Option(help: "What the files are called, without extension. Default: the topic.")
    var output: String?

    func validate() throws {
        guard self.csr == nil || self.keyType == nil else {
            throw ValidationError("The key of a signing request is made already: leave out --key-type.")
        }
    }

    func run() async throws {
        let answer = try await self.admin.answer(APIRequest(.post, ["certificates"], body: try self.body))
        let base = self.output ?? self.topic
        var files: [String] = []
        for (member, ending, isSecret) in [("certificate", "pem", false), ("privateKey", "key", true)] {
            guard let text = answer[member].stringValue else { continue }
            files.append("\(base).\(ending)")
            try OutputFile.write(pem: text, to: "\(base).\(ending)", isSecret: isSecret)
        }
        if let p12 = answer["p12"].stringValue.flatMap({ Data(base64Encoded: $0) }) {
            files.append("\(base).p12")
            try OutputFile.write(p12, to: "\(base).p12", isSecret: true)
        }
        let serial = answer["serial"].stringValue ?? "?"
        if self.admin.json {
            let shown: [String: JSONValue] = ["serial": .string(serial), "files": .array(files.map(JSONValue.string))]
            StandardOutput.line(try JSONValue.object(shown).line)
        } else {
            StandardOutput.line("certificate \(serial) is in \(files.joined(separator: ", "))")
        }
    }

    private var body: [String: JSONValue?] {
        get throws {
            let environments: [JSONValue] =
                switch self.environment {
                case .sandbox, .production: [.string(self.environment.rawValue)]
                case .both: PushEnvironment.allCases.map { .string($0.rawValue) }
                }
            return [
                "topic": .string(self.topic), "environments": .array(environments),
                "topics": self.additionalTopic.isEmpty ? nil : .array(self.additionalTopic.map(JSONValue.string)),
                "csr": try self.csr.map { .string(try OutputFile.read($0)) },
                "keyType": self.keyType.map { .string($0.rawValue) },
                "passphrase": self.passphrase.map(JSONValue.string),
            ]
        }
    }
}

extension GatewayListenerOptions.Choice: ExpressibleByArgument {}
