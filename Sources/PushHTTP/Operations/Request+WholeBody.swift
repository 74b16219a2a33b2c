package import Foundation
package import Hummingbird
import NIOCore
package import PushSupport

extension Request {
    /// Reads the whole body.
    /// - Parameter maximum: The maximum length, in bytes.
    /// - Throws: ``RequestError`` for a longer body.
    package func wholeBody(maximum: Int) async throws -> Data {
        do {
            return Data(try await self.body.collect(upTo: maximum).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw RequestError.bodyTooLarge(maximum: maximum)
        }
    }

    /// Reads the whole body, and charges its memory to the account of a caller.
    ///
    /// A body longer than `Budget.uncountedBodyLength` is charged its declared length before it is read. Without a
    /// declared length, it is charged `maximum` once it exceeds that length.
    /// - Parameters:
    ///   - maximum: The maximum length, in bytes.
    ///   - bytes: The budget of bytes in memory.
    ///   - asItArrives: Whether a long body is charged only for the bytes that have arrived, so that a declared length
    ///     alone reserves nothing.
    /// - Returns: The body, and the permit to retain until the caller has its response. The permit is `nil` for a short
    ///   body, which is not charged.
    /// - Throws: ``RequestError`` for a longer body. `BudgetRefusal` if the budget has no room at present.
    package func wholeBody(
        maximum: Int,
        from bytes: Budget,
        for caller: @autoclosure () -> BudgetCaller,
        asItArrives: Bool = false
    ) async throws -> (body: Data, held: BudgetPermit?) {
        var (held, taken): (BudgetPermit?, Int) = (nil, 0)
        let announced = self.headers[.contentLength].flatMap { Int($0) } ?? 0
        if announced > Budget.uncountedBodyLength, !asItArrives {
            taken = min(announced, maximum)
            held = try bytes.take(taken, for: caller())
        }
        var body = ByteBuffer()
        for try await var part in self.body {
            let length = body.readableBytes + part.readableBytes
            guard length <= maximum else { throw RequestError.bodyTooLarge(maximum: maximum) }
            if length > max(taken, Budget.uncountedBodyLength) {
                // A body that arrives slowly is charged in a few large amounts.
                let enough = asItArrives ? min(max(length, taken + Budget.uncountedBodyLength), maximum) : maximum
                if let held {
                    try held.extend(by: enough - taken)
                } else {
                    held = try bytes.take(enough, for: caller())
                }
                taken = enough
            }
            if body.readableBytes == 0 { body = part } else { body.writeBuffer(&part) }
        }
        held?.reduce(to: body.readableBytes)
        return (Data(body.readableBytesView), held)
    }
}
