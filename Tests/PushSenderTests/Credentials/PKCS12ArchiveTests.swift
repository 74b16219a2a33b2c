import PushSender
import PushTypes
import Testing

@Suite struct PKCS12ArchiveTests {
    static let passphrase = "martlet"

    @Test(arguments: [ArchiveFixtures.modern, ArchiveFixtures.keychain, ArchiveFixtures.tripleDES])
    func archivesOfEveryAgeAreRead(p12: [UInt8]) throws {
        let certificate = try ClientCertificate(p12: p12, passphrase: Self.passphrase)
        #expect(certificate.commonName == "Apple Push Services: com.example.MyApp")
        #expect(certificate.topics.count == 3)
        #expect(certificate.certificateChain.count == 1)
    }

    @Test(arguments: [ArchiveFixtures.unencrypted, ArchiveFixtures.noMAC, ArchiveFixtures.sha512MAC])
    func unusualArchivesAreRead(p12: [UInt8]) throws {
        #expect(try ClientCertificate(p12: p12, passphrase: Self.passphrase).environments == [.production])
    }

    @Test(arguments: [ArchiveFixtures.empty, ArchiveFixtures.emptyLegacy])
    func anArchiveMayHaveNoPassphrase(p12: [UInt8]) throws {
        #expect(try ClientCertificate(p12: p12, passphrase: "").environments == [.production])
        #expect(try ClientCertificate(p12: p12).environments == [.production])
        #expect(throws: CredentialError.wrongPassphrase) { try ClientCertificate(p12: p12, passphrase: "x") }
    }

    @Test(arguments: [
        ArchiveFixtures.modern, ArchiveFixtures.keychain, ArchiveFixtures.tripleDES, ArchiveFixtures.noMAC,
    ])
    func aWrongPassphraseHasItsOwnError(p12: [UInt8]) {
        for passphrase in [nil, "", "Martlet", "martlet "] {
            #expect(throws: CredentialError.wrongPassphrase) {
                try ClientCertificate(p12: p12, passphrase: passphrase)
            }
        }
    }

    @Test func theCertificateOfTheKeyIsSelectedWithItsChain() throws {
        let certificate = try ClientCertificate(p12: ArchiveFixtures.chain, passphrase: Self.passphrase)
        #expect(certificate.environments == [.production])
        #expect(certificate.certificateChain.count == 2)
    }

    @Test(arguments: [false, true]) func ofSeveralIdentitiesAMatchingPairIsSelected(isBER: Bool) throws {
        var archive = HandmadeArchive(isBER: isBER)
        try archive.add(key: PEMFixtures.otherKey)
        try archive.add(certificate: PEMFixtures.universalCertificate)
        #expect(throws: CredentialError.keyDoesNotMatchCertificate) { try ClientCertificate(p12: archive.bytes) }
        try archive.add(key: PEMFixtures.ecKey)
        try archive.add(certificate: PEMFixtures.sandboxCertificate)
        let certificate = try ClientCertificate(p12: archive.bytes)
        #expect(certificate.environments == [.sandbox])
        #expect(certificate.certificateChain.count == 1)
    }

    @Test func anArchiveOfManyKeysIsRejected() throws {
        var archive = HandmadeArchive()
        for _ in 0..<17 { try archive.add(key: PEMFixtures.ecKey) }
        try archive.add(certificate: PEMFixtures.sandboxCertificate)
        #expect(throws: CredentialError.tooManyKeys) { try ClientCertificate(p12: archive.bytes) }
    }

    @Test func anArchiveWithoutAPairIsRejectedWithTheReason() {
        let expected: [([UInt8], CredentialError)] = [
            (ArchiveFixtures.noKey, .noPrivateKey), (ArchiveFixtures.noCertificate, .noCertificate),
            (ArchiveFixtures.mismatch, .keyDoesNotMatchCertificate), (ArchiveFixtures.rc2with128, .unsupportedArchive),
        ]
        for (p12, error) in expected {
            #expect(throws: error) { try ClientCertificate(p12: p12, passphrase: Self.passphrase) }
        }
        #expect("\(CredentialError.unsupportedArchive)".contains("openssl pkcs12 -legacy -in"))
    }

    @Test func anUnsupportedPassphraseHasItsOwnError() {
        #expect(throws: CredentialError.unsupportedPassphrase) {
            try ClientCertificate(p12: ArchiveFixtures.umlaut, passphrase: "schlüssel")
        }
        #expect(throws: CredentialError.wrongPassphrase) {
            try ClientCertificate(p12: ArchiveFixtures.umlaut, passphrase: "schlussel")
        }
    }

    @Test func invalidBytesAreRejected() {
        let cut = [0, 1, 2, 100, ArchiveFixtures.modern.count - 1].map { Array(ArchiveFixtures.modern.prefix($0)) }
        for bytes in cut + [ArchiveFixtures.certificateDER, Array("hello".utf8), [0x30, 0x80], [0x30, 0x00]] {
            #expect(throws: CredentialError.badArchive) { try ClientCertificate(p12: bytes, passphrase: "martlet") }
        }
    }

    @Test(arguments: [ArchiveFixtures.unencrypted, ArchiveFixtures.noMAC])
    func aDamagedArchiveNeverTraps(p12: [UInt8]) {
        for index in stride(from: 0, to: p12.count, by: 7) {
            var bytes = p12
            bytes[index] ^= 0x41
            _ = try? ClientCertificate(p12: bytes, passphrase: Self.passphrase)
        }
    }
}
