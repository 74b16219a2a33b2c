package import Foundation
package import Hummingbird
import NIOCore
import PushSupport

/// A request of one of our HTTP APIs: JSON in and out, the body no longer than `maxUploadSize`.
package protocol JSONContext: RequestContext {}

extension JSONContext {
    /// The whole body.
    /// - Throws: ``RequestError`` with status 413 for one that is too long.
    package func body(of request: Request) async throws -> Data {
        try await request.wholeBody(maximum: self.maxUploadSize)
    }
}

extension RequestError {
    static func bodyTooLarge(maximum: Int) -> RequestError {
        RequestError(.tooLarge, code: "body_too_large", message: "a body has at most \(maximum) bytes here")
    }
}

extension Request {
    /// The whole body.
    /// - Parameter maximum: in bytes.
    /// - Throws: ``RequestError`` with status 413 for one that is too long.
    package func wholeBody(maximum: Int) async throws -> Data {
        do {
            return Data(try await self.body.collect(upTo: maximum).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw RequestError.bodyTooLarge(maximum: maximum)
        }
    }

    /// The query item `name` as a number.
    /// - Throws: ``RequestError`` with status 400 that names the item.
    package func number(_ name: String, in range: ClosedRange<Int64>, default value: Int64) throws -> Int64 {
        guard let text = self.uri.queryParameters[name[...]] else { return value }
        guard let number = Int64(text), range.contains(number) else {
            throw RequestError(
                .invalid,
                code: "invalid_value",
                message: "use a number from \(range.lowerBound) to \(range.upperBound)",
                path: name
            )
        }
        return number
    }
}
