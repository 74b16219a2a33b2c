import Crypto
import Foundation
import NIOSSL
import PushSupport
import PushTesting
import PushTypes
import SwiftASN1
import Testing
import X509

@testable import PushGateway

/// Provider certificates, from issuing to handshake (APNs reference 2.2).
@Suite struct ProviderAuthorityTests {
    static let now = Vectors.issuedAt

    @Test(arguments: [ProviderAuthority.KeySource.newRSA, .newP256])
    func aCertificateSaysWhatWasOrdered(key: ProviderAuthority.KeySource) throws {
        let authority = try Self.authority()
        let topics = [("com.example.MyApp", "app"), ("com.example.MyApp.voip", "voip")]
        let issued = try authority.issue(
            .init(
                topic: try Self.topic("com.example.MyApp"),
                topics: try topics.map { CertificateTopic(topic: try Self.topic($0.0), kinds: [$0.1]) },
                environments: [.sandbox, .production],
                key: key
            ),
            now: Self.now
        )
        let certificate = try Certificate(pemEncoded: issued.certificatePEM)
        let details = CertificateDetails(certificate)
        #expect(details.userID == "com.example.MyApp")
        #expect(details.commonName == "Apple Push Services: com.example.MyApp")
        #expect(details.topics?.map(\.topic.name) == topics.map(\.0))
        #expect(details.topics?.map(\.kinds) == [["app"], ["voip"]])
        for oid in [ASN1ObjectIdentifier.pushSandbox, .pushProduction] {
            #expect(certificate.extensions[oid: oid]?.value == [0x05, 0x00])
        }
        let identity = try Self.identity(of: certificate, authority).get()
        #expect(identity.defaultTopic.name == "com.example.MyApp")
        #expect(identity.topics == issued.certificate.topics)
        #expect(identity.serial == issued.certificate.serial)
        #expect(identity.expiresAt == issued.certificate.expiresAt)
    }

    @Test func theTopicsExtensionIsThatOfTheReference() throws {
        let topics = ["app", "voip", "complication"].map { kind in
            (kind == "app" ? "com.example.MyApp" : "com.example.MyApp.\(kind)", kind)
        }
        let issued = try Self.authority().issue(
            .init(
                topic: try Self.topic("com.example.MyApp"),
                topics: try topics.map { CertificateTopic(topic: try Self.topic($0.0), kinds: [$0.1]) },
                environments: [.sandbox],
                key: .newP256
            ),
            now: Self.now
        )
        let value = try Certificate(pemEncoded: issued.certificatePEM).extensions[oid: .pushTopics]?.value
        #expect(
            value.map { Hexadecimal.encode($0) }
                == "306a0c11636f6d2e6578616d706c652e4d7941707030050c036170700c16636f6d2e6578616d706c652e4d794170702e766f69"
                + "7030060c04766f69700c1e636f6d2e6578616d706c652e4d794170702e636f6d706c69636174696f6e300e0c0c636f6d706c69"
                + "636174696f6e"
        )
    }

    @Test func aSigningRequestIsSignedOnlyIfItsKeySignedIt() throws {
        let key = P256.Signing.PrivateKey()
        let request = try CertificateSigningRequest(
            version: .v1,
            subject: DistinguishedName { CommonName("mine") },
            privateKey: Certificate.PrivateKey(key),
            attributes: .init()
        )
        let pem = try request.serializeAsPEM().pemString
        let issued = try Self.authority().issue(Self.order(key: .signingRequest(pem)), now: Self.now)
        #expect(issued.privateKeyPEM == nil)
        #expect(try issued.archive(passphrase: "") == nil)
        let certificate = try Certificate(pemEncoded: issued.certificatePEM)
        #expect(certificate.publicKey == Certificate.PublicKey(key.publicKey))
        let garbage = ["", "x", pem.replacingOccurrences(of: "M", with: "N"), String(pem.dropLast(200))]
        for pem in garbage {
            #expect(throws: ProviderAuthority.Failure.badSigningRequest) {
                try Self.authority().issue(Self.order(key: .signingRequest(pem)), now: Self.now)
            }
        }
    }

    @Test(arguments: [ProviderAuthority.KeySource.newRSA, .newP256])
    func theArchiveHoldsOneCertificateAndItsKey(key: ProviderAuthority.KeySource) throws {
        let issued = try Self.authority().issue(Self.order(key: key), now: Self.now)
        let archive = try #require(try issued.archive(passphrase: "secret"))
        let bundle = try NIOSSLPKCS12Bundle(buffer: archive, passphrase: Array("secret".utf8))
        #expect(bundle.certificateChain.count == 1)
        let certificate = try Certificate(pemEncoded: issued.certificatePEM)
        #expect(try bundle.certificateChain.first?.toDERBytes() == Self.der(certificate))
        #expect(throws: (any Error).self) { try NIOSSLPKCS12Bundle(buffer: archive, passphrase: Array("x".utf8)) }
    }

    // MARK: Rejections

    @Test func aCertificateForTheOtherEnvironmentIsToldSo() throws {
        let authority = try Self.authority()
        let issued = try authority.issue(Self.order(environments: [.production]), now: Self.now)
        let certificate = try Certificate(pemEncoded: issued.certificatePEM)
        #expect(try Self.identity(of: certificate, authority, .production).get().environments == [.production])
        #expect(Self.identity(of: certificate, authority, .sandbox) == .failure(.badCertificateEnvironment))
    }

    @Test func aCertificateOfAnotherAuthorityIsBad() throws {
        let issued = try Self.authority().issue(Self.order(), now: Self.now)
        let certificate = try Certificate(pemEncoded: issued.certificatePEM)
        #expect(try Self.identity(of: certificate, Self.authority()) == .failure(.badCertificate))
    }

    @Test(arguments: [(-2, false), (0, true), (364, true), (366, false)])
    func aCertificateIsGoodForAYear(days: Int, isGood: Bool) throws {
        let authority = try Self.authority()
        let issued = try authority.issue(Self.order(), now: Self.now)
        let certificate = try Certificate(pemEncoded: issued.certificatePEM)
        let now = Self.now.advanced(by: .seconds(days * 86_400))
        let identity = Self.identity(of: certificate, authority, now: now)
        #expect(((try? identity.get()) != nil) == isGood)
    }

    @Test func aRevokedCertificateIsBad() throws {
        let authority = try Self.authority()
        let issued = try authority.issue(Self.order(), now: Self.now)
        let directory = try TestDirectory()
        directory.change { $0.revoked = [issued.certificate.serial] }
        let certificate = try Certificate(pemEncoded: issued.certificatePEM)
        #expect(Self.identity(of: certificate, authority, directory: directory) == .failure(.badCertificate))
    }

    @Test func garbageIsABadCertificate() throws {
        let authority = try Self.authority()
        let directory = try TestDirectory()
        let issued = try authority.issue(Self.order(), now: Self.now)
        let der = try Self.der(try Certificate(pemEncoded: issued.certificatePEM))
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<300 {
            var changed = Array(der.prefix(Int.random(in: 0...der.count, using: &generator)))
            if !changed.isEmpty {
                let index = Int.random(in: changed.indices, using: &generator)
                changed[index] ^= UInt8.random(in: 1...255, using: &generator)
            }
            let identity = authority.identity(of: changed, environment: .sandbox, directory: directory, now: Self.now)
            #expect(identity == .failure(.badCertificate))
        }
    }

    // MARK: Fixtures

    static func authority() throws -> ProviderAuthority {
        let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-test-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return ProviderAuthority(
            authority: try CertificateAuthority(
                name: "provider-authority",
                commonName: "Test",
                in: try DataDirectory(folder),
                now: Date(timeIntervalSince1970: Double(Self.now.seconds))
            )
        )
    }

    private static func order(
        environments: Set<PushEnvironment> = [.sandbox],
        key: ProviderAuthority.KeySource = .newP256
    ) throws -> ProviderAuthority.Order {
        .init(topic: try Self.topic(Vectors.bundleID), environments: environments, key: key)
    }

    private static func topic(_ name: String) throws -> Topic { try #require(Topic(name)) }

    private static func der(_ certificate: Certificate) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }

    private static func identity(
        of certificate: Certificate,
        _ authority: ProviderAuthority,
        _ environment: PushEnvironment = .sandbox,
        directory: TestDirectory? = nil,
        now: Timestamp = ProviderAuthorityTests.now
    ) -> Result<CertificateIdentity, Reason> {
        do {
            return authority.identity(
                of: try Self.der(certificate),
                environment: environment,
                directory: try directory ?? TestDirectory(),
                now: now
            )
        } catch {
            return .failure(.internalServerError)
        }
    }
}
