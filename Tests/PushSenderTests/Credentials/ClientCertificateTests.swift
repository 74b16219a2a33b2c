import NIOSSL
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushSender

@Suite struct ClientCertificateTests {
    static let now = Timestamp(seconds: 1_800_000_000)

    @Test func theTopicsAndEnvironmentsAreRead() throws {
        let certificate = try ClientCertificate(pem: PEMFixtures.universalCertificate + PEMFixtures.rsaKey)
        #expect(certificate.commonName == "Apple Push Services: com.example.MyApp")
        #expect(certificate.defaultTopic == Topic("com.example.MyApp"))
        #expect(certificate.topics.map(\.topic.name) == Self.topics)
        #expect(certificate.topics.map(\.kinds) == [["app"], ["voip"], ["complication"]])
        #expect(certificate.environments == [.sandbox, .production])
        #expect(certificate.validFrom < Self.now && Self.now < certificate.expires)
        #expect(certificate.certificateChain.count == 1)
        #expect(certificate.fingerprint.count == 64)
    }

    @Test func aCertificateWithoutAListHasItsDefaultTopic() throws {
        let certificate = try ClientCertificate(pem: PEMFixtures.sandboxCertificate, key: PEMFixtures.ecKey)
        #expect(certificate.topics == [CertificateTopic(topic: try #require(Topic("com.example.MyApp")), kinds: [])])
        let plain = try ClientCertificate(pem: PEMFixtures.plainCertificate, key: PEMFixtures.ecKey)
        #expect(plain.topics.isEmpty)
        #expect(plain.defaultTopic == nil)
    }

    @Test(arguments: [
        (PEMFixtures.sandboxCertificate, [PushEnvironment.sandbox]), (PEMFixtures.productionCertificate, [.production]),
        (PEMFixtures.plainCertificate, [.sandbox, .production]),
    ])
    func theEnvironmentsAreThoseOfTheExtensions(pem: String, environments: [PushEnvironment]) throws {
        let certificate = try ClientCertificate(pem: pem, key: PEMFixtures.ecKey)
        #expect(certificate.environments == Set(environments))
        for environment in PushEnvironment.allCases {
            if environments.contains(environment) {
                try certificate.check(environment: environment, now: Self.now)
            } else {
                #expect(throws: CredentialError.wrongEnvironment(environment)) {
                    try certificate.check(environment: environment, now: Self.now)
                }
            }
        }
    }

    @Test func itIsRejectedOutsideItsValidity() throws {
        let certificate = try ClientCertificate(pem: PEMFixtures.plainCertificate, key: PEMFixtures.ecKey)
        let (first, last) = (certificate.validFrom, certificate.expires)
        try certificate.check(environment: .sandbox, now: first)
        try certificate.check(environment: .sandbox, now: last)
        #expect(throws: CredentialError.notYetValid(from: first)) {
            try certificate.check(environment: .sandbox, now: first.advanced(by: .milliseconds(-1)))
        }
        #expect(throws: CredentialError.expired(since: last)) {
            try certificate.check(environment: .sandbox, now: last.advanced(by: .milliseconds(1)))
        }
        #expect("\(CredentialError.expired(since: Self.now))".contains("expired at 2027-01-15T08:00:00Z"))
    }

    @Test(arguments: [PEMFixtures.ecKey, PEMFixtures.ecKeySEC1, PEMFixtures.ecKeyTripleDES])
    func everyFormOfAnECKeyIsRead(key: String) throws {
        let certificate = try ClientCertificate(pem: PEMFixtures.productionCertificate, key: key, passphrase: "martlet")
        #expect(certificate.environments == [.production])
    }

    @Test(arguments: [PEMFixtures.rsaKey, PEMFixtures.rsaKeyPKCS8Encrypted, PEMFixtures.rsaKeyOldEncrypted])
    func everyFormOfAnRSAKeyIsRead(key: String) throws {
        let text =
            "Bag Attributes\n    friendlyName: push\n" + key + "\nsubject=CN = x\n" + PEMFixtures.universalCertificate
        let windows = "\u{FEFF}" + text.replacing("\n", with: "\r\n")
        for pem in [text, windows] {
            #expect(try ClientCertificate(pem: pem, passphrase: "martlet").topics.count == 3)
        }
    }

    @Test(arguments: [PEMFixtures.rsaKeyPKCS8Encrypted, PEMFixtures.rsaKeyOldEncrypted])
    func anEncryptedKeyNeedsItsPassphrase(key: String) {
        let certificate = PEMFixtures.universalCertificate
        #expect(throws: CredentialError.passphraseMissing) { try ClientCertificate(pem: certificate, key: key) }
        for wrong in ["", "Martlet", String(repeating: "x", count: 5000)] {
            #expect(throws: CredentialError.wrongPassphrase) {
                try ClientCertificate(pem: certificate, key: key, passphrase: wrong)
            }
        }
        for impossible in ["schlüssel", "mart\0let"] {
            #expect(throws: CredentialError.unsupportedPassphrase) {
                try ClientCertificate(pem: certificate, key: key, passphrase: impossible)
            }
        }
    }

    @Test func textWithoutAPairIsRejectedWithTheReason() {
        let (certificate, key) = (PEMFixtures.productionCertificate, PEMFixtures.ecKey)
        let expected: [(String, CredentialError)] = [
            ("", .unknownFormat), ("hello", .unknownFormat), (String(certificate.dropLast(40)), .unknownFormat),
            (key, .noCertificate), (certificate, .noPrivateKey),
            (certificate + PEMFixtures.otherKey, .keyDoesNotMatchCertificate),
            (certificate + PEMFixtures.rsaKey, .keyDoesNotMatchCertificate),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" + key, .badCertificate),
            (certificate + "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", .unsupportedPrivateKey),
        ]
        for (pem, error) in expected {
            #expect(throws: error) { try ClientCertificate(pem: pem) }
        }
    }

    @Test(arguments: [PEMFixtures.rsaKey, PEMFixtures.rsaKeyOldEncrypted])
    func theTLSLibraryAcceptsThePair(key: String) throws {
        let certificate = try ClientCertificate(
            pem: PEMFixtures.universalCertificate,
            key: key,
            passphrase: "martlet"
        )
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateChain = certificate.certificateChain
        tls.privateKey = certificate.privateKey
        #expect(throws: Never.self) { try NIOSSLContext(configuration: tls) }
    }

    @Test func theChainStartsAtTheLeaf() throws {
        let pem = PEMFixtures.authorityCertificate + PEMFixtures.universalCertificate + PEMFixtures.leafCertificate
        let certificate = try ClientCertificate(pem: pem, key: PEMFixtures.ecKey)
        #expect(certificate.certificateChain.count == 2)
        let alone = try ClientCertificate(pem: PEMFixtures.leafCertificate, key: PEMFixtures.ecKey)
        #expect(certificate.fingerprint == alone.fingerprint)
    }

    static let topics = ["com.example.MyApp", "com.example.MyApp.voip", "com.example.MyApp.complication"]
}
