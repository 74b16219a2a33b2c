import Crypto
import PushSender
import Testing

@testable import PushProvider

@Suite struct CertificateCacheTests {
    @Test func aCertificateIsOpenedOnce() {
        #expect(Self.opened([1, 1, 2, 1, 2]) == [1, 2])
    }

    @Test func theLastOnesAreRemembered() {
        let many = Array(0..<300)
        #expect(Self.opened(many + [299, 200, 0]) == many + [0])
        // One that is asked for again and again stays.
        #expect(Self.opened(many.flatMap { [$0, -1] }).count { $0 == -1 } == 1)
    }

    /// Returns the certificates that were opened, of those that were asked for.
    private static func opened(_ wanted: [Int]) -> [Int] {
        let certificates = CertificateCache()
        var opened: [Int] = []
        for number in wanted {
            let id = SHA256.hash(data: Array("\(number)".utf8))
            #expect(throws: CredentialError.noCertificate) {
                try certificates.certificate(id) { () throws(CredentialError) -> ClientCertificate in
                    opened.append(number)
                    throw .noCertificate
                }
            }
        }
        return opened
    }
}
