import Foundation
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import martlet

/// Credentials as files, without a provider.
@Suite(.timeLimit(.patience)) struct CredentialFileCommandTests {
    /// Runs `body` with the path of a PEM file of a certificate and its key.
    private func withPEM(_ body: (String, PushCertificate) async throws -> Void) async throws {
        let certificate = try PushCertificate(environments: [.production])
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/apns.pem"
            try (certificate.pem + certificate.key).write(toFile: path, atomically: true, encoding: .utf8)
            try await body(path, certificate)
        }
    }

    @Test func aFileIsConvertedThereAndBackForItsOwnerOnly() async throws {
        try await self.withPEM { path, certificate in
            let folder = URL(filePath: path).deletingLastPathComponent().path
            let (archive, secret, back) = ("\(folder)/apns.p12", "\(folder)/secret", "\(folder)/back.pem")
            try "martlet\n".write(toFile: secret, atomically: true, encoding: .utf8)
            let said = try await martlet(["credential", "convert", path, archive, "--output-passphrase-file", secret])
            #expect(said.contains(Vectors.bundleID) && !said.contains("PRIVATE KEY"))
            let attributes = try FileManager.default.attributesOfItem(atPath: archive)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            try await martlet(["credential", "convert", archive, back, "--passphrase", "martlet"])
            let read = try ClientCertificate(pem: String(contentsOfFile: back, encoding: .utf8))
            #expect(read.fingerprint == certificate.fingerprint)
            let again = await failure {
                try await martlet(["credential", "convert", archive, back, "--passphrase", "martlet"])
            }
            #expect(again?.contains("exists already") == true)
            let wrong = await failure {
                try await martlet(["credential", "convert", archive, "\(folder)/c.pem", "--passphrase", "x"])
            }
            #expect(wrong?.contains("passphrase") == true)
            let unknown = await failure { try await martlet(["credential", "convert", path, "\(folder)/apns"]) }
            #expect(unknown?.contains("--format") == true)
        }
    }

    @Test func aLinkIsNotFollowed() async throws {
        try await self.withPEM { path, _ in
            let (link, target) = (path + ".p12", path + ".elsewhere")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
            let error = await failure { try await martlet(["credential", "convert", path, link]) }
            #expect(error?.contains("cannot be written") == true)
            #expect(!FileManager.default.fileExists(atPath: target))
        }
    }

    @Test func contentsAreShownWithoutKeys() async throws {
        try await self.withPEM { path, certificate in
            let text = try await martlet(["credential", "inspect", path])
            #expect(text.contains(Vectors.bundleID) && text.contains("production"))
            #expect(text.contains(certificate.fingerprint) && text.contains("EC P-256, in the file"))
            #expect(!text.contains("BEGIN") && !text.contains("cannot be pushed"))
            let json = try JSONValue(parsing: Data(try await martlet(["credential", "inspect", path, "--json"]).utf8))
            #expect(json["certificates"].elements.first?["hasKey"] == true)
            let alone = path + ".cer"
            try certificate.pem.write(toFile: alone, atomically: true, encoding: .utf8)
            let status = await failure { try await martlet(["credential", "inspect", alone]) }
            #expect(status != nil, "there is no key")
        }
    }

    @Test func aSigningKeyIsShownAndNotConverted() async throws {
        try await withTemporaryDirectory { directory in
            let key = "\(directory)/AuthKey_\(Vectors.keyID).p8"
            try Vectors.privateKey.write(toFile: key, atomically: true, encoding: .utf8)
            let text = try await martlet(["credential", "inspect", key])
            #expect(text.contains("signing key") && text.contains(Vectors.keyID) && !text.contains("MIGH"))
            let error = await failure { try await martlet(["credential", "convert", key, "\(directory)/a.p12"]) }
            #expect(error?.contains("signing key") == true)
        }
    }
}
