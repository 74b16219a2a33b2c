import Foundation
import PushTesting
import PushTypes
import Testing

@testable import PushSender

/// Certificates and keys in the other formats.
@Suite(.timeLimit(.patience)) struct CredentialWritingTests {
    /// A certificate with its key, and a name for the test.
    struct Source: Sendable, CustomTestStringConvertible {
        let name: String
        let certificates, key: String
        var testDescription: String { self.name }

        var certificate: ClientCertificate {
            get throws { try ClientCertificate(pem: self.certificates, key: self.key) }
        }
    }

    static let sources = [
        Source(name: "RSA", certificates: PEMFixtures.universalCertificate, key: PEMFixtures.rsaKey),
        Source(name: "EC", certificates: PEMFixtures.sandboxCertificate, key: PEMFixtures.ecKey),
        Source(name: "EC in SEC 1", certificates: PEMFixtures.productionCertificate, key: PEMFixtures.ecKeySEC1),
        Source(
            name: "with its authority",
            certificates: PEMFixtures.leafCertificate + "\n" + PEMFixtures.authorityCertificate,
            key: PEMFixtures.ecKey
        ),
    ]

    @Test(arguments: Self.sources, ["", "martlet", "two words"])
    func anArchiveIsReadAgain(source: Source, passphrase: String) throws {
        let certificate = try source.certificate
        let archive = try certificate.archive(passphrase: passphrase)
        let read = try ClientCertificate(p12: archive, passphrase: passphrase)
        #expect(read.fingerprint == certificate.fingerprint)
        #expect(read.certificateChain == certificate.certificateChain)
        #expect(read.privateKey == certificate.privateKey)
        #expect(throws: CredentialError.wrongPassphrase) {
            try ClientCertificate(p12: archive, passphrase: passphrase + "x")
        }
    }

    @Test(arguments: Self.sources, [nil, "", "martlet"] as [String?])
    func aPEMFileIsReadAgain(source: Source, passphrase: String?) throws {
        let certificate = try source.certificate
        let text = try certificate.pem(passphrase: passphrase)
        let isEncrypted = passphrase?.isEmpty == false
        #expect(text.contains("BEGIN ENCRYPTED PRIVATE KEY") == isEncrypted)
        #expect(text.contains("-----BEGIN PRIVATE KEY") == !isEncrypted)
        let read = try ClientCertificate(pem: text, passphrase: passphrase)
        #expect(read.fingerprint == certificate.fingerprint)
        #expect(read.certificateChain == certificate.certificateChain)
        #expect(read.privateKey == certificate.privateKey)
        if isEncrypted {
            #expect(throws: CredentialError.passphraseMissing) { try ClientCertificate(pem: text) }
        }
    }

    @Test func anOldArchiveBecomesOneThatOpenSSLReads() throws {
        let openSSL = "/usr/bin/openssl"
        guard FileManager.default.isExecutableFile(atPath: openSSL) else { return }
        let certificate = try ClientCertificate(p12: ArchiveFixtures.keychain, passphrase: "martlet")
        try withFolder { folder in
            let path = "\(folder)/new.p12"
            try Data(certificate.archive(passphrase: "secret")).write(to: URL(filePath: path))
            let process = Process()
            process.executableURL = URL(filePath: openSSL)
            process.arguments = ["pkcs12", "-in", path, "-nodes", "-passin", "pass:secret"]
            let output = Pipe()
            (process.standardOutput, process.standardError) = (output, FileHandle.nullDevice)
            try process.run()
            let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            #expect(try ClientCertificate(pem: text).fingerprint == certificate.fingerprint)
        }
    }

    @Test func aPassphraseThatProgramsEncodeDifferentlyIsRejected() throws {
        let certificate = try Self.sources[1].certificate
        for passphrase in ["ü", "a\u{0}b", String(repeating: "x", count: 1024)] {
            #expect(throws: CredentialError.unsupportedPassphrase) { try certificate.archive(passphrase: passphrase) }
            #expect(throws: CredentialError.unsupportedPassphrase) { try certificate.pem(passphrase: passphrase) }
        }
    }

    @Test func contentsAreShownWhateverTheyAreGoodFor() throws {
        try withFolder { folder in
            func file(_ name: String, _ content: Data) throws -> CredentialFile {
                let path = "\(folder)/\(name)"
                try content.write(to: URL(filePath: path))
                return CredentialFile(path: path, passphrase: "martlet")
            }
            let archive = try file("a.p12", Data(ArchiveFixtures.modern)).contents()
            #expect(archive.format == .archive && archive.keys.count == 1 && archive.unmatchedKeys == 0)
            let certificate = try #require(archive.certificates.first)
            #expect(certificate.hasKey && certificate.defaultTopic?.name == Vectors.bundleID)
            #expect(certificate.topics.count == 3)
            let alone = try file("b.pem", Data(PEMFixtures.sandboxCertificate.utf8)).contents()
            #expect(alone.format == .pem && alone.keys.isEmpty && alone.certificates.first?.hasKey == false)
            #expect(alone.certificates.first?.environments == [.sandbox])
            #expect(alone.certificates.first?.algorithm == "EC P-256")
            let pair = Data((PEMFixtures.universalCertificate + "\n" + PEMFixtures.ecKey).utf8)
            let mismatch = try file("c.pem", pair).contents()
            #expect(mismatch.unmatchedKeys == 1 && mismatch.certificates.first?.hasKey == false)
            #expect(mismatch.certificates.first?.algorithm == "RSA 2048")
            let key = try file("AuthKey_ABC123DEFG.p8", Data(Vectors.privateKey.utf8)).contents()
            #expect(key.format == .signingKey && key.keyID == "ABC123DEFG" && key.certificates.isEmpty)
            let der = try file("d.cer", Data(ArchiveFixtures.certificateDER)).contents()
            #expect(der.format == .der && der.certificates.count == 1 && der.keys.isEmpty)
            let noise = try file("e", Data("hello".utf8))
            #expect(throws: CredentialError.unknownFormat) { try noise.contents() }
            var wrong = try file("f.p12", Data(ArchiveFixtures.modern))
            wrong.passphrase = "other"
            #expect(throws: CredentialError.wrongPassphrase) { try wrong.contents() }
        }
    }

    /// Runs `body` with a folder of its own.
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.path)
    }
}
