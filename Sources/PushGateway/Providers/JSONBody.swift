import Foundation
import NIOCore

/// Parses the body of a request as JSON, where a check needs it.
enum JSONBody {
    /// Returns the members of an object; `nil` for any other content.
    static func object(_ body: ByteBuffer) -> [String: Any]? {
        try? JSONSerialization.jsonObject(with: Data(body.readableBytesView)) as? [String: Any]
    }
}
