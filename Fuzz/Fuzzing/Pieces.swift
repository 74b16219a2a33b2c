package import NIOCore

/// The ways in which bytes can be split into reads. No result may depend on it.
package enum Pieces {
    /// The number of positions at which an input is split. Those of a longer input depend on its bytes.
    private static let splits = 16

    /// Returns the bytes in one piece, in two pieces split at several positions, and in single bytes.
    package static func all(_ bytes: [UInt8]) -> [[ByteBuffer]] {
        let whole = [ByteBuffer(bytes: bytes)]
        let step = max(1, bytes.count / self.splits)
        let start = 1 + bytes.reduce(0) { $0 &+ Int($1) } % step
        let halves = stride(from: start, to: bytes.count, by: step).map { position in
            [ByteBuffer(bytes: bytes[..<position]), ByteBuffer(bytes: bytes[position...])]
        }
        return [whole] + halves + [bytes.map { ByteBuffer(bytes: [$0]) }]
    }

    /// Traps unless `outcome` is the same for all ways of splitting the bytes.
    package static func expectSame<Outcome: Equatable>(_ bytes: [UInt8], _ outcome: ([ByteBuffer]) -> Outcome) {
        var ways = self.all(bytes)[...]
        guard let whole = ways.popFirst().map(outcome) else { return }
        for pieces in ways {
            let other = outcome(pieces)
            precondition(other == whole, "\(pieces.map(\.readableBytes)): \(other)\ninstead of \(whole)")
        }
    }
}

/// The result of a decoder: its values, its error and its remaining bytes.
package struct Decoded<Value: Equatable, Failure: Error & Equatable>: Equatable {
    package var values: [Value] = []
    package var failure: Failure?
    /// The bytes of an incomplete value.
    package var rest = ByteBuffer()

    package init() {}

    package init(_ pieces: [ByteBuffer], _ read: (inout ByteBuffer) throws(Failure) -> Value?) {
        for piece in pieces {
            self.rest.writeImmutableBuffer(piece)
            do throws(Failure) {
                while let value = try read(&self.rest) { self.values.append(value) }
            } catch {
                self.failure = error
                self.rest.clear()
                return
            }
            self.rest.discardReadBytes()
        }
    }
}
