import Foundation
import PushSender
import PushTesting
import Testing

@Suite struct PushCredentialTests {
    @Test func aSigningKeyIsRecognizedAndItsIDReadFromTheName() async throws {
        try await withTemporaryDirectory { folder in
            let named = "\(folder)/AuthKey_ABC123DEFG.p8"
            try Vectors.privateKey.write(toFile: named, atomically: true, encoding: .utf8)
            let guessed = try PushCredential.load(file: named, teamID: Vectors.teamID)
            guard case .token(let key) = guessed else {
                Issue.record("not a signing key")
                return
            }
            #expect(key.keyID == "ABC123DEFG")
            #expect(guessed.expires == nil)
            let other = try PushCredential.load(file: named, teamID: Vectors.teamID, keyID: "ZZZ123DEFG")
            #expect(other.identity != guessed.identity)
            #expect(throws: CredentialError.badTeamID) { try PushCredential.load(file: named) }

            let unnamed = "\(folder)/key.pem"
            try Vectors.privateKey.write(toFile: unnamed, atomically: true, encoding: .utf8)
            #expect(throws: CredentialError.badKeyID) {
                try PushCredential.load(file: unnamed, teamID: Vectors.teamID)
            }
            let same = try PushCredential.load(file: unnamed, teamID: Vectors.teamID, keyID: "ABC123DEFG")
            #expect(same.identity == guessed.identity)
        }
    }

    @Test func everyFormOfACertificateIsRecognized() async throws {
        try await withTemporaryDirectory { folder in
            let files: [(String, [UInt8])] = [
                ("pair.pem", Array((PEMFixtures.productionCertificate + PEMFixtures.ecKeyTripleDES).utf8)),
                ("certificate.pem", Array(PEMFixtures.productionCertificate.utf8)),
                ("key.pem", Array(PEMFixtures.ecKeyTripleDES.utf8)),
                ("certificate.cer", ArchiveFixtures.certificateDER), ("push.p12", ArchiveFixtures.noMAC),
            ]
            for (name, bytes) in files { try Data(bytes).write(to: URL(filePath: "\(folder)/\(name)")) }
            func load(_ name: String, key: String? = nil) throws -> PushCredential {
                let key = key.map { "\(folder)/\($0)" }
                return try PushCredential.load(file: "\(folder)/\(name)", passphrase: "martlet", keyFile: key)
            }
            let credentials = [
                try load("pair.pem"), try load("certificate.pem", key: "key.pem"),
                try load("key.pem", key: "certificate.pem"), try load("certificate.cer", key: "key.pem"),
                try load("push.p12"),
            ]
            #expect(Set(credentials.map(\.identity)).count == 1)
            #expect(Set(credentials.map(\.expires)).count == 1)
            #expect(credentials.allSatisfy { $0.expires != nil })
            #expect(throws: CredentialError.noPrivateKey) { try load("certificate.pem") }
            #expect(throws: CredentialError.noPrivateKey) { try load("certificate.cer") }
            #expect(throws: CredentialError.noCertificate) { try load("key.pem") }
        }
    }

    @Test func anInvalidFileIsRejectedWithTheReason() async throws {
        try await withTemporaryDirectory { folder in
            let path = "\(folder)/AuthKey_ABC123DEFG.p8"
            func expect(_ error: CredentialError, _ bytes: [UInt8]) throws {
                try Data(bytes).write(to: URL(filePath: path))
                #expect(throws: error) { try PushCredential.load(file: path, teamID: Vectors.teamID) }
            }
            try expect(.unknownFormat, [])
            try expect(.unknownFormat, Array("not a key".utf8))
            try expect(.badArchive, [0x30, 0x82, 0x01])
            try expect(.badPrivateKey, Array(PEMFixtures.rsaKey.replacing("RSA ", with: "").utf8))
            try expect(.noCertificate, Array(PEMFixtures.rsaKey.utf8))
            try expect(.fileTooLarge(path: path), [UInt8](repeating: 0x30, count: CredentialFile.maximumSize + 1))
            let missing = "\(folder)/none.p12"
            #expect {
                try PushCredential.load(file: missing)
            } throws: {
                "\($0)".hasPrefix("\(missing) cannot be read: ")
            }
        }
    }

    @Test func nothingSecretIsPrinted() async throws {
        try await withTemporaryDirectory { folder in
            let file = CredentialFile(path: "\(folder)/push.p12", passphrase: "martlet")
            try Data(ArchiveFixtures.modern).write(to: URL(filePath: file.path))
            #expect("\(file)" == file.path)
            #expect(!String(reflecting: try file.load()).contains("martlet"))
        }
    }
}
