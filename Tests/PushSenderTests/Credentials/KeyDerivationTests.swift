import PushTypes
import SwiftASN1
import Testing

@testable import PushSender

/// Files whose keys would take a process for minutes, which are refused before anything of them is decrypted.
@Suite struct KeyDerivationTests {
    /// The encryptions that are read.
    static let kinds = [Encryption.Kind.pbes2, .tripleDES]

    @Test(arguments: Self.kinds) func aKeyWithManyIterationsIsRefused(kind: Encryption.Kind) throws {
        for (rounds, error) in [
            (1_000_001, CredentialError.tooManyIterations), (1000, CredentialError.wrongPassphrase),
        ] {
            let key = try Encryption(kind, rounds: rounds).pem()
            #expect(throws: error) {
                try ClientCertificate(pem: PEMFixtures.productionCertificate, key: key, passphrase: "martlet")
            }
        }
        #expect("\(CredentialError.tooManyIterations)".contains("1,000,000"))
    }

    @Test func keysWithManyIterationsTogetherAreRefused() throws {
        let key = try Encryption(.pbes2, rounds: 1_000_000).pem() + "\n"
        #expect(throws: CredentialError.tooManyIterations) {
            try ClientCertificate(
                pem: PEMFixtures.productionCertificate + "\n" + key + key + key,
                passphrase: "martlet"
            )
        }
    }

    @Test func anotherDerivationIsRefused() throws {
        let key = try Encryption(.scrypt, rounds: 1).pem()
        #expect(throws: CredentialError.unsupportedPrivateKey) {
            try ClientCertificate(pem: PEMFixtures.productionCertificate, key: key, passphrase: "martlet")
        }
    }

    @Test func aFileHasAtMostSixteenKeys() throws {
        let pem = PEMFixtures.productionCertificate + "\n"
        let keys = String(repeating: PEMFixtures.ecKey + "\n", count: 16)
        #expect(try ClientCertificate(pem: pem + keys).environments == [.production])
        #expect(throws: CredentialError.tooManyKeys) { try ClientCertificate(pem: pem + keys + PEMFixtures.ecKey) }
    }

    @Test(arguments: Self.kinds) func partsOfAnArchiveWithManyIterationsAreRefused(kind: Encryption.Kind) throws {
        let (cheap, costly) = (Encryption(kind, rounds: 1000), Encryption(kind, rounds: 1_000_001))
        let half = Encryption(kind, rounds: 1_000_000)
        let files = [
            try Self.archive(keys: [costly], parts: [cheap]), try Self.archive(keys: [cheap], parts: [costly]),
            try Self.archive(keys: [half], parts: [half, cheap]),
        ]
        for p12 in files {
            #expect(throws: CredentialError.tooManyIterations) {
                try ClientCertificate(p12: p12, passphrase: "martlet")
            }
        }
        let fine = try Self.archive(keys: [cheap], parts: [cheap])
        #expect(throws: CredentialError.wrongPassphrase) { try ClientCertificate(p12: fine, passphrase: "martlet") }
    }

    /// Returns an archive without a MAC.
    private static func archive(keys: [Encryption], parts: [Encryption]) throws -> [UInt8] {
        let bags = try PKCS12DER.sequence { coder in
            for key in keys {
                let info = try key.keyInfo()
                try PKCS12DER.typed(.shroudedKeyBag, into: &coder) { $0.serializeRawBytes(info) }
            }
        }
        let content = try PKCS12DER.sequence { coder in
            for part in parts { try part.write(into: &coder) }
            try PKCS12DER.data(bags, into: &coder)
        }
        return try PKCS12DER.sequence { coder in
            try coder.serialize(3)
            try PKCS12DER.data(content, into: &coder)
        }
    }
}

/// An encryption whose content is nothing that could be decrypted.
struct Encryption {
    enum Kind: Sendable { case pbes2, scrypt, tripleDES }

    let kind: Kind
    let rounds: Int
    private let ciphertext = [UInt8](repeating: 7, count: 48)

    init(_ kind: Kind, rounds: Int) {
        (self.kind, self.rounds) = (kind, rounds)
    }

    /// Returns an encrypted key in PEM.
    func pem() throws -> String { PEMDocument(type: "ENCRYPTED PRIVATE KEY", derBytes: try self.keyInfo()).pemString }

    /// Returns an encrypted key.
    func keyInfo() throws -> [UInt8] {
        let algorithm = try self.algorithm()
        return try PKCS12DER.sequence { coder in
            coder.serializeRawBytes(algorithm)
            try coder.serialize(ASN1OctetString(contentBytes: self.ciphertext[...]))
        }
    }

    /// Writes an encrypted part of an archive.
    func write(into coder: inout DER.Serializer) throws {
        let algorithm = try self.algorithm()
        try PKCS12DER.typed(.encryptedData, into: &coder) { coder in
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.serialize(0)
                try coder.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.serialize(ASN1ObjectIdentifier.pkcs7Data)
                    coder.serializeRawBytes(algorithm)
                    coder.appendPrimitiveNode(
                        identifier: ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
                    ) { $0 += self.ciphertext }
                }
            }
        }
    }

    private func algorithm() throws -> [UInt8] {
        let tripleDES: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 12, 1, 3]
        let scrypt: ASN1ObjectIdentifier = [1, 3, 6, 1, 4, 1, 11591, 4, 11]
        let salt = ASN1OctetString(contentBytes: [1, 2, 3, 4, 5, 6, 7, 8])
        let parameters = try PKCS12DER.sequence { coder in
            try coder.serialize(salt)
            try coder.serialize(self.rounds)
        }
        return try PKCS12DER.sequence { coder in
            guard self.kind != .tripleDES else {
                try coder.serialize(tripleDES)
                return coder.serializeRawBytes(parameters)
            }
            try coder.serialize(ASN1ObjectIdentifier.pbes2)
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.serialize(self.kind == .scrypt ? scrypt : .pbkdf2)
                    coder.serializeRawBytes(parameters)
                }
                try coder.appendConstructedNode(identifier: .sequence) { coder in
                    let aes: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 1, 42]
                    try coder.serialize(aes)
                    try coder.serialize(ASN1OctetString(contentBytes: self.ciphertext.prefix(16)))
                }
            }
        }
    }
}
