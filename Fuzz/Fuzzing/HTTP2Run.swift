import NIOCore
package import NIOHPACK

/// Fuzzes one end of HTTP/2 and its header decoder.
package enum HTTP2Run {
    /// Calls `connection` or `headerBlocks`, as the first byte of each input decides.
    /// - Parameters:
    ///   - connection: runs a connection with an input; its second argument is the first byte.
    ///   - headerBlocks: decodes an input with ``compareHeaders(_:decode:compare:)``.
    package static func start(
        connection: @escaping @Sendable ([UInt8], UInt8) -> Void,
        headerBlocks: @escaping @Sendable ([UInt8]) -> Void
    ) -> Never {
        Fuzzer.run { input in
            guard let first = input.first else { return }
            let rest = Array(input.dropFirst())
            if first & 3 == 0 { headerBlocks(rest) } else { connection(rest, first) }
        }
    }

    /// Decodes header blocks with a decoder of Martlet and with NIOHPACK: both accept the same blocks.
    /// - Parameters:
    ///   - decode: Martlet's decoder; `nil` for a block that it rejects.
    ///   - compare: traps unless both have decoded a block to the same fields.
    package static func compareHeaders<Head>(
        _ input: [UInt8],
        decode: ([UInt8]) -> Head?,
        compare: (Head, HPACKHeaders, [UInt8]) -> Void
    ) {
        var theirs = HPACKDecoder(allocator: ByteBufferAllocator())
        theirs.maxHeaderListSize = 100_000
        var input = input[...]
        while let length = input.popFirst() {
            let block = Array(input.prefix(Int(length)))
            input = input.dropFirst(Int(length))
            let head = decode(block)
            var buffer = ByteBuffer(bytes: block)
            // NIOHPACK also rejects names that HTTP forbids. After a rejection the tables may differ.
            guard let their = try? theirs.decodeHeaders(from: &buffer) else { return }
            guard let head else { preconditionFailure("only NIOHPACK takes \(block)") }
            compare(head, their, block)
        }
    }
}
