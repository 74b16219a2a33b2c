import ArgumentParser
import Foundation
import ProviderModel
import PushSender
import PushSupport
import PushTypes

/// `martlet credential inspect`: shows the contents of a credential's file, without a provider.
struct InspectCredential: AsyncParsableCommand {
    static let configuration = command("inspect")
        .help("Show what a .p8, .p12, .cer or PEM file holds; keys are not shown.")
        .detail("The status is 1 if the file cannot be used for pushes now.")
        .example("credential inspect apns.p12")

    @OptionGroup var common: CommonOptions
    @Argument(help: "A .p8 key, a .p12 archive, a .cer or a PEM file.") var file: String
    @Option(help: "The private key of a certificate, if it is in another file.") var keyFile: String?
    @OptionGroup var flags: SettingFlags<CredentialSettings>
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let settings = try await self.common.settings([self.flags])
        try settings.check()
        let passphrase = settings.string(CredentialSettings.passphrase)
        let file = CredentialFile(path: self.file, passphrase: passphrase, keyFile: self.keyFile)
        let contents: CredentialContents
        do {
            contents = try file.contents()
        } catch {
            throw SettingsError(error, of: self.file)
        }
        let text = CredentialContentsText(contents, now: SystemTime().now)
        if self.json {
            try StandardOutput.result(String(decoding: try text.json.text, as: UTF8.self))
        } else {
            try StandardOutput.result(text.lines.joined(separator: "\n"))
        }
        if text.fault != nil { throw ExitCode.failure }
    }
}

/// `martlet credential convert`: writes a credential in another format.
struct ConvertCredential: AsyncParsableCommand {
    /// The formats in which a credential can be written.
    enum Format: String, CaseIterable, ExpressibleByArgument { case pem, p12 }

    static let configuration = command("convert")
        .help("Write a certificate with its key in the other format: .p12 to PEM, or PEM to .p12.")
        .detail("Only the owner can read the new file. An existing one is not overwritten.")
        .detail("A .p12 is written as OpenSSL 3 does: AES-256 and HMAC-SHA256.")
        .example("credential convert apns.p12 apns.pem")

    @OptionGroup var common: CommonOptions
    @Argument(help: "A .p12 archive or a PEM file.") var file: String
    @Argument(help: "The new file. Its format follows from the ending, .pem or .p12, unless --format names it.")
    var output: String
    @Option(help: "pem or p12: the format of the new file.") var format: Format?
    @Option(help: "The private key of a PEM certificate, if it is in another file.") var keyFile: String?
    @OptionGroup var flags: SettingFlags<CredentialSettings>
    @Option(help: "File with the passphrase of the new file, its first line. Default: none.")
    var outputPassphraseFile: String?

    func run() async throws {
        let settings = try await self.common.settings([self.flags])
        try settings.check()
        let format = try self.outputFormat()
        let passphrase = try self.outputPassphraseFile.map { try Self.passphrase(in: $0) }
        let file = CredentialFile(
            path: self.file,
            passphrase: settings.string(CredentialSettings.passphrase),
            keyFile: self.keyFile
        )
        let certificate: ClientCertificate
        do {
            let isSigningKey = try file.contents().format == .signingKey
            guard !isSigningKey, case .certificate(let loaded) = try file.load() else {
                throw SettingsError("\(self.file): a signing key is used as it is: it has no certificate to convert")
            }
            certificate = loaded
            let content: Data =
                switch format {
                case .pem: Data(try certificate.pem(passphrase: passphrase).utf8)
                case .p12: Data(try certificate.archive(passphrase: passphrase ?? ""))
                }
            try OutputFile.write(content, to: self.output, isSecret: true)
        } catch let error as CredentialError {
            throw SettingsError(error, of: self.file)
        }
        let name = certificate.defaultTopic?.name ?? certificate.commonName
        try StandardOutput.result("\(self.output): certificate for \(name.printable) and its key")
    }

    private func outputFormat() throws -> Format {
        if let format { return format }
        switch URL(filePath: self.output).pathExtension.lowercased() {
        case "pem": return .pem
        case "p12", "pfx": return .p12
        default: throw ValidationError("The ending of \(self.output) is neither .pem nor .p12: give --format.")
        }
    }

    private static func passphrase(in path: String) throws -> String {
        let text = try InputFile.text(path, for: "--output-passphrase-file")
        return String(text.prefix { !$0.isNewline })
    }
}

/// Formats the contents of a credential's files as human-readable text and as JSON.
private struct CredentialContentsText {
    private let contents: CredentialContents
    private let now: Timestamp

    init(_ contents: CredentialContents, now: Timestamp) { (self.contents, self.now) = (contents, now) }

    /// The reason why the credential cannot be used for pushes, or `nil` if it is usable.
    var fault: String? {
        if self.contents.format == .signingKey { return nil }
        if self.contents.certificates.isEmpty { return "there is no certificate" }
        if self.contents.keys.isEmpty { return "there is no private key" }
        let pairs = self.contents.certificates.filter(\.hasKey)
        if pairs.isEmpty { return "the private key belongs to none of the certificates" }
        guard !pairs.contains(where: { $0.validFrom <= self.now && self.now <= $0.expires }) else { return nil }
        return pairs.allSatisfy { self.now < $0.validFrom }
            ? "the certificate is not valid yet" : "the certificate has expired"
    }

    var lines: [String] {
        var lines = ["format        \(self.contents.format.rawValue)"]
        if let keyID = self.contents.keyID { lines.append("key id        \(keyID)") }
        for key in self.contents.keys { lines.append("private key   \(key)") }
        for certificate in self.contents.certificates { lines += [""] + self.lines(of: certificate) }
        if let fault { lines += ["", "It cannot be pushed with: \(fault)."] }
        return lines
    }

    private func lines(of certificate: CredentialContents.CertificateEntry) -> [String] {
        let topics = certificate.topics.map { entry in
            entry.kinds.isEmpty ? entry.topic.name : "\(entry.topic.name) (\(entry.kinds.joined(separator: ", ")))"
        }
        let environments = certificate.environments?.map(\.rawValue).sorted().joined(separator: ", ")
        let state =
            self.now > certificate.expires ? ", expired" : self.now < certificate.validFrom ? ", not valid yet" : ""
        let rows: [(String, String)] = [
            ("certificate", certificate.commonName), ("issuer", certificate.issuer),
            ("topics", topics.joined(separator: ", ")), ("environments", environments ?? ""),
            ("valid from", certificate.validFrom.rfc3339), ("expires", certificate.expires.rfc3339 + state),
            ("its key", certificate.algorithm + (certificate.hasKey ? ", in the file" : ", not in the file")),
            ("SHA-256", certificate.fingerprint),
        ]
        return rows.filter { !$0.1.isEmpty }.map { name, value in
            "\(name.padding(toLength: 14, withPad: " ", startingAt: 0))\(value.printable)"
        }
    }

    var json: JSONValue {
        let certificates = self.contents.certificates.map { certificate in
            JSONValue.object([
                "commonName": .string(certificate.commonName), "issuer": .string(certificate.issuer),
                "topics": .array(certificate.topics.map { .string($0.topic.name) }),
                "environments": certificate.environments.map { names in
                    .array(names.map(\.rawValue).sorted().map(JSONValue.string))
                } ?? .null,
                "validFromMs": .integer(certificate.validFrom.milliseconds),
                "expiresAtMs": .integer(certificate.expires.milliseconds),
                "algorithm": .string(certificate.algorithm), "sha256": .string(certificate.fingerprint),
                "hasKey": .bool(certificate.hasKey),
            ])
        }
        return .object([
            "format": .string(self.contents.format.rawValue),
            "keyId": self.contents.keyID.map(JSONValue.string) ?? .null,
            "keys": .array(self.contents.keys.map(JSONValue.string)),
            "certificates": .array(certificates),
            "fault": self.fault.map(JSONValue.string) ?? .null,
        ])
    }
}
