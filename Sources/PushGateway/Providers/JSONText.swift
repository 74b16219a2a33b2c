import Foundation
import NIOCore

/// Reads a request's body as JSON, where a check needs it.
enum JSONText {
    /// The members of the object that `text` is; `nil` if it is anything else.
    static func object(_ text: ByteBuffer) -> [String: Any]? {
        try? JSONSerialization.jsonObject(with: Data(text.readableBytesView)) as? [String: Any]
    }
}
