import Foundation
package import NIOCore
import PushProtocol

/// Reads the answer of a push service (reference 1.8).
package enum PushReply {
    private struct Body: Decodable {
        var reason: String?
        /// Milliseconds.
        var timestamp: Int64?
    }

    /// A body that is no such JSON leaves the reason empty: the status alone then decides.
    package static func rejection(status: Int, retryAfter: String?, body: ByteBuffer) -> Rejection {
        let content = try? JSONDecoder().decode(Body.self, from: Data(body.readableBytesView))
        return Rejection(
            status: status,
            reasonText: content?.reason ?? "",
            timestamp: content?.timestamp.map(Timestamp.init(milliseconds:)),
            retryAfter: retryAfter.flatMap(UInt32.init).map { .seconds(Int64($0)) }
        )
    }
}
