import Foundation
package import NIOSSL
import PushSupport

/// The PEM files with the certificate chain and the private key of a server.
package struct TLSFiles: Hashable, Sendable {
    /// The maximum length of a file, in bytes. A longer one cannot be used.
    private static let maximumSize = 1024 * 1024

    /// The path of the file with the server's certificate, followed by those of its issuers.
    package var certificate: String
    /// The path of the file with the private key of the certificate.
    package var key: String

    package init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }

    /// Loads both files.
    /// - Returns: The TLS context of a server with this certificate, for TLS 1.2 and 1.3, which prefers HTTP/2 to
    ///   HTTP/1.1, and the expiry of the certificate.
    /// - Throws: ``TLSFilesError``, which names the file and its fault.
    func load() throws(TLSFilesError) -> (context: NIOSSLContext, expiry: Date?) {
        let (tls, own) = try self.configuration()
        do {
            // This fails if the private key does not belong to the certificate.
            return (try NIOSSLContext(configuration: tls), Date(timeIntervalSince1970: Double(own.notValidAfter)))
        } catch {
            throw TLSFilesError(path: self.key, why: "its key is not the one of the certificate in \(self.certificate)")
        }
    }

    /// Loads both files.
    /// - Returns: The configuration of a server with this certificate, without ALPN protocols, and the server's own
    ///   certificate.
    /// - Throws: ``TLSFilesError``, which names the file and its fault.
    package func configuration() throws(TLSFilesError) -> (tls: TLSConfiguration, own: NIOSSLCertificate) {
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMBytes(Array(try Self.read(self.certificate)))
        } catch let error as TLSFilesError {
            throw error
        } catch {
            throw TLSFilesError(path: self.certificate, why: "it holds no certificate in PEM")
        }
        guard let own = chain.first else {
            throw TLSFilesError(path: self.certificate, why: "it holds no certificate in PEM")
        }
        let bytes = Array(try Self.read(self.key))
        let key: NIOSSLPrivateKey
        do {
            key = try NIOSSLPrivateKey(bytes: bytes, format: .pem) { (_: NIOSSLPassphraseSetter<[UInt8]>) in
                throw TLSFilesError(path: self.key, why: "its key has a passphrase")
            }
        } catch {
            throw TLSFilesError(path: self.key, why: "it holds no private key in PEM without a passphrase")
        }
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = ["h2", "http/1.1"]
        return (tls, own)
    }

    private static func read(_ path: String) throws(TLSFilesError) -> Data {
        do {
            let file = try FileHandle(forReadingFrom: URL(filePath: path))
            defer { try? file.close() }
            let data = try file.read(upToCount: Self.maximumSize + 1) ?? Data()
            guard data.count <= Self.maximumSize else {
                throw TLSFilesError(path: path, why: "it is longer than 1 MiB")
            }
            return data
        } catch let error as TLSFilesError {
            throw error
        } catch {
            throw TLSFilesError(path: path, why: "it cannot be read: \(ErrorDescription.of(error))")
        }
    }
}

package struct TLSFilesError: Error, Hashable, Sendable, CustomStringConvertible {
    package let path: String
    package let why: String

    package var description: String { "\(self.path) cannot be used for TLS: \(self.why)" }
}
