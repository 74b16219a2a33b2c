import ArgumentParser
import Foundation
import ProviderAPI
import ProviderModel
import PushBridges
import PushSender
import PushSupport
import PushTypes

/// `martlet bridge`: accepts pushes from old providers over the binary protocol, and sends them over HTTP/2.
struct BridgeCommand: AsyncParsableCommand {
    static let configuration = command("bridge")
        .help("Take pushes from old providers over the binary protocol, and send them over HTTP/2.")
        .detail(
            """
            It is a provider with listeners for old providers and without an API: each push is in its ledger before \
            the next one is read. It also tells them which apps are gone (feedback).
            """
        )
        .detail("Each --client is the certificate of an old provider, as it has it: PEM, .cer or .p12.")
        .detail("Without --credential its certificate and key are used for HTTP/2 too.")
        .detail("Ends on Ctrl-C, and tells old providers how far it has taken their pushes.")
        .example(
            "bridge --client apns.p12 --bridge-certificate server.pem --bridge-key server.key --production-service apple"
        )

    private static let ports = (binary: BinarySender.defaultPort, feedback: FeedbackClient.defaultPort)

    @OptionGroup var common: CommonOptions
    @OptionGroup var storage: SettingFlags<ServeSettings.Storage>
    @OptionGroup var general: SettingFlags<ServeSettings.General>
    @OptionGroup(title: "Listeners for old providers") var bridge: SettingFlags<ServeSettings.Bridge>
    @Option(name: .customLong("client"), help: "File with an old provider's certificate; repeat it for several.")
    var clients: [String] = []
    @Option(help: "sandbox or production: the environment of the pushes. Default: that of each client's certificate.")
    var environment: PushEnvironment?
    @Option(help: "File of the credential for HTTP/2: a .p8 key, a .p12 archive or PEM. Default: each client's own.")
    var credential: String?
    @OptionGroup var options: CredentialFileOptions
    @Flag(help: "Also serve the API and the dashboard, as 'martlet serve' does.") var api = false

    func run() async throws {
        let settings = try await self.common.settings([self.storage, self.general, self.bridge, self.options.flags])
        var configuration = ServeSettings.Storage.configuration(settings)
        ServeSettings.General.apply(settings, to: &configuration)
        configuration.tls = try ServeSettings.General.tls(settings)
        configuration.hasListener = self.api
        let services = try PushServices(settings)
        guard !self.clients.isEmpty else { throw ValidationError("Give the certificate of an old provider: --client.") }
        guard var bridge = try ServeSettings.Bridge.configuration(settings, defaults: Self.ports) else { return }
        bridge.clients = try self.clients.map { try self.client($0, settings) }
        let log = LogConfiguration(settings)
        try settings.check()
        let bridges = BridgesConfiguration(binary: bridge)
        let run = ProviderRun(configuration: configuration, services: services, bridges: bridges, log: log)
        try await run.run(settings)
    }

    /// Reads the certificate by which an old provider is recognized, and the credential with which its pushes are sent.
    private func client(_ path: String, _ settings: SettingsReader) throws -> BinaryBridgeConfiguration.Client {
        let passphrase = settings.string(CredentialSettings.passphrase)
        let file = CredentialFile(path: path, passphrase: passphrase)
        let contents: CredentialContents
        do {
            contents = try file.contents()
        } catch {
            throw SettingsError("\(path): \(error)")
        }
        let pushing = contents.certificates.filter { $0.defaultTopic != nil }
        guard let certificate = pushing.first, let topic = certificate.defaultTopic else {
            throw SettingsError("\(path): no certificate in it has a topic, the UID of its subject")
        }
        let environments = self.environment.map { [$0] } ?? Set(certificate.environments ?? [.production])
        let record = try self.credentialRecord(path, settings)
        return BinaryBridgeConfiguration.Client(
            topic: topic,
            environment: self.environment ?? (environments.count == 1 ? environments.first : nil),
            fingerprints: pushing.filter { $0.defaultTopic == topic }.map(\.fingerprint),
            credentials: Dictionary(uniqueKeysWithValues: environments.map { ($0, record) })
        )
    }

    /// Returns the credential for the push service from the option, or else the certificate of the client.
    private func credentialRecord(_ client: String, _ settings: SettingsReader) throws -> CredentialRecord {
        let members = try self.options.members(of: self.credential ?? client, settings)
        let passphrase = members["passphrase"]??.stringValue
        if let pem = members["certificate"]??.stringValue { return .certificate(pem: pem, passphrase: passphrase) }
        if let text = members["p12"]??.stringValue, let archive = Data(base64Encoded: text) {
            return .archive(p12: Array(archive), passphrase: passphrase)
        }
        return .key(
            teamID: members["teamId"]??.stringValue ?? "",
            keyID: members["keyId"]??.stringValue ?? "",
            privateKey: members["privateKey"]??.stringValue ?? ""
        )
    }
}
