import Crypto
import Foundation
import PushTypes

/// The proof of the component's secret (XEP-0114 §3).
enum ComponentHandshake {
    /// Returns the hexadecimal text that proves the secret for a stream.
    /// - Parameter stream: The id that the server has given to the stream.
    static func proof(stream: String, secret: String) -> String {
        Hexadecimal.encode(Insecure.SHA1.hash(data: Data((stream + secret).utf8)))
    }
}
