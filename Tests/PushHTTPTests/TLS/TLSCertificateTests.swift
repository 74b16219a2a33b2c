import Foundation
import PushTesting
import Testing

@testable import PushHTTP

/// The files of a certificate that are renewed while a server runs.
@Suite struct TLSCertificateTests {
    private func withFiles(_ body: (TLSFiles, SelfSignedCertificate) throws -> Void) async throws {
        let certificate = try SelfSignedCertificate()
        try await withTemporaryDirectory { directory in
            let files = TLSFiles(certificate: "\(directory)/cert.pem", key: "\(directory)/key.pem")
            try Self.write(certificate, files)
            try body(files, certificate)
        }
    }

    private static func write(_ certificate: SelfSignedCertificate, _ files: TLSFiles) throws {
        try certificate.pem.write(toFile: files.certificate, atomically: true, encoding: .utf8)
        try certificate.key.write(toFile: files.key, atomically: true, encoding: .utf8)
    }

    @Test func aRenewedCertificateCountsWithoutARestart() async throws {
        try await self.withFiles { files, _ in
            let certificate = try TLSCertificate(files, logger: silentLogger)
            let first = certificate.context
            #expect(!certificate.check())
            #expect(certificate.context === first)
            try Self.write(try SelfSignedCertificate(), files)
            #expect(certificate.check())
            #expect(certificate.context !== first)
        }
    }

    /// Between the two files of a renewal, the key is not the one of the certificate.
    @Test(arguments: ["", "no PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func filesThatCannotBeUsedLeaveTheOldCertificate(text: String) async throws {
        try await self.withFiles { files, _ in
            let certificate = try TLSCertificate(files, logger: silentLogger)
            let first = certificate.context
            try text.write(toFile: files.certificate, atomically: true, encoding: .utf8)
            #expect(!certificate.check())
            let renewed = try SelfSignedCertificate()
            try renewed.pem.write(toFile: files.certificate, atomically: true, encoding: .utf8)
            #expect(!certificate.check(), "the key is still the old one")
            try FileManager.default.removeItem(atPath: files.key)
            #expect(!certificate.check())
            #expect(certificate.context === first)
            try Self.write(renewed, files)
            #expect(certificate.check())
        }
    }

    @Test func aStartNamesTheFileAtFault() async throws {
        try await self.withFiles { files, certificate in
            let other = try SelfSignedCertificate()
            for (path, text, why) in [
                (files.certificate, "x", "no certificate"), (files.key, "x", "no private key"),
                (files.key, other.key, "not the one of the certificate"),
                (files.key, String(repeating: "x", count: 2 << 20), "longer than 1 MiB"),
            ] {
                try Self.write(certificate, files)
                try text.write(toFile: path, atomically: true, encoding: .utf8)
                let error = #expect(throws: TLSFilesError.self) { try TLSCertificate(files, logger: silentLogger) }
                #expect(error?.path == path)
                #expect(error?.description.contains(why) == true, "\(String(describing: error))")
            }
        }
    }
}
