import Dispatch
import NIOCore

/// The number of a push and its time of sending, at fixed positions of its payload.
struct Stamp: Hashable, Sendable {
    private static let start = #"{"n":""#
    private static let middle = #"","t":""#
    private static let digits = 19

    var number: Int
    /// The time of sending, in nanoseconds of the monotonic clock.
    var time: UInt64

    init(_ number: Int, time: UInt64 = Self.now) {
        self.number = number
        self.time = time
    }

    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    var payload: String {
        Self.start + Self.padded(UInt64(self.number)) + Self.middle + Self.padded(self.time)
            + #"","aps":{"alert":{"title":"Hello","body":"World, a push of ordinary size"},"badge":3}}"#
    }

    /// Reads the stamp of the payload at `index`, or returns `nil` if it has none.
    init?(_ bytes: ByteBuffer, at index: Int) {
        let numberIndex = index + Self.start.utf8.count
        guard let number = Self.number(bytes, at: numberIndex),
            let time = Self.number(bytes, at: numberIndex + Self.digits + Self.middle.utf8.count)
        else { return nil }
        self.init(Int(clamping: number), time: time)
    }

    private static func padded(_ value: UInt64) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, self.digits - text.utf8.count)) + text
    }

    private static func number(_ bytes: ByteBuffer, at index: Int) -> UInt64? {
        var value: UInt64 = 0
        for offset in 0..<self.digits {
            guard let byte = bytes.getInteger(at: index + offset, as: UInt8.self),
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            else { return nil }
            value = value &* 10 &+ UInt64(byte &- UInt8(ascii: "0"))
        }
        return value
    }
}
