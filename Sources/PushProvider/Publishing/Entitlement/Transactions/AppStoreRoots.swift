package import Foundation
import SwiftASN1
import X509

/// The root certificates to which the certificates of transactions must lead: Apple's, or those of a test authority.
package struct AppStoreRoots: Sendable {
    /// An error for a file that holds no certificates.
    package struct Unreadable: Error {}

    /// The largest file, in bytes.
    package static let maximumLength = 64 * 1024

    let certificates: [Certificate]

    /// Reads one certificate in DER, or one or more in PEM.
    /// - Throws: ``Unreadable``.
    package init(_ file: Data) throws(Unreadable) {
        do {
            let text = String(decoding: file, as: UTF8.self)
            guard text.contains("-----BEGIN") else {
                self.certificates = [try Certificate(derEncoded: Array(file))]
                return
            }
            self.certificates = try PEMDocument.parseMultiple(pemString: text).map { try Certificate(pemDocument: $0) }
        } catch {
            throw Unreadable()
        }
        guard !self.certificates.isEmpty else { throw Unreadable() }
    }
}
