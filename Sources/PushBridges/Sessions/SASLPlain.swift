import Foundation

/// SASL PLAIN (RFC 4616).
enum SASLPlain {
    /// Returns the only message of the client in base64.
    static func response(account: String, password: String) -> String {
        Data("\0\(account)\0\(password)".utf8).base64EncodedString()
    }
}
