package import Foundation
package import Hummingbird
import NIOCore
package import PushSupport

extension Request {
    /// Reads the whole body.
    ///
    /// - Parameter maximum: In bytes.
    /// - Throws: ``RequestError`` for a body that is longer.
    package func wholeBody(maximum: Int) async throws -> Data {
        do {
            return Data(try await self.body.collect(upTo: maximum).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw RequestError.bodyTooLarge(maximum: maximum)
        }
    }

    /// Reads the whole body, whose bytes are in memory on the account of a caller.
    ///
    /// A long body takes its length before it is read. One without a length takes the maximum once it is long.
    ///
    /// - Parameters:
    ///   - maximum: In bytes.
    ///   - bytes: The budget of bytes in memory.
    ///   - asItArrives: Whether a long body takes what has arrived of it instead. What strangers announce holds nothing then.
    /// - Returns: The body, and what it holds until its caller has a response; `nil` for a small one.
    /// - Throws: ``RequestError`` for a body that is longer, `BudgetRefusal` for one that has no room now.
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
                // A body that drips takes a few large amounts.
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
