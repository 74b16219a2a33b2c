import Foundation
import NIOCore
import PushTypes
import PushWire

/// Reads the body of a push service's response (reference 1.8).
enum PushResponse {
    private struct Body: Decodable {
        var reason: String?
        /// The time of a 410, in milliseconds.
        var timestamp: Int64?
    }

    /// Returns the rejection that a response other than 200 means.
    ///
    /// A body that is not JSON leaves the reason empty, and the status alone decides.
    static func rejection(_ response: HTTP2Response) -> Rejection {
        let content = Self.content(response.body)
        return Rejection(
            status: response.head.status,
            reasonText: content?.reason ?? "",
            timestamp: content?.timestamp.map(Timestamp.init(milliseconds:)),
            retryAfter: response.head.retryAfter.flatMap(UInt32.init).map { .seconds(Int64($0)) }
        )
    }

    /// Returns the member `reason` of a JSON object, or an empty text.
    static func reasonText(_ body: [UInt8]) -> String {
        Self.content(body)?.reason ?? ""
    }

    private static func content(_ body: [UInt8]) -> Body? {
        body.first == UInt8(ascii: "{") ? try? JSONDecoder().decode(Body.self, from: Data(body)) : nil
    }
}
