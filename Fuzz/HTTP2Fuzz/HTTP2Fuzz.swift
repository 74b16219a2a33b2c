import Fuzzing
import NIOCore
import NIOHPACK
import PushTypes

@testable import PushWire

/// Fuzzes one end of HTTP/2 and its header decoder. The first byte of an input selects one.
@main
enum HTTP2Fuzz {
    static func main() {
        HTTP2Run.start(
            connection: { input, first in
                let firstStreamID: UInt32 = first & 128 == 0 ? 1 : 0x7fff_ff00
                ConnectionRun.run(input, startsOpen: first & 1 == 1, firstStreamID: firstStreamID)
            },
            headerBlocks: DecoderComparison.run
        )
    }
}

/// Runs a connection. The input decides on the size of each read, the pushes and the time.
enum ConnectionRun {
    static func run(_ input: [UInt8], startsOpen: Bool, firstStreamID: UInt32) {
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        var limits = HTTP2ClientLimits()
        limits.firstStreamID = firstStreamID
        var machine = HTTP2ClientStateMachine(authority: "localhost", limits: limits, now: now)
        machine.setProviderToken("a.b.c")
        if startsOpen { machine.receive(ByteBuffer(bytes: [0, 0, 0, 4, 0, 0, 0, 0, 0]), now: now) }
        var started = 0
        var ended: Set<Int> = []
        var input = input[...]
        while let command = input.popFirst() {
            switch command >> 6 {
            case 0:
                for _ in 0..<(command & 7) where machine.freeStreams > 0 {
                    machine.send(Self.push(started), ticket: started, now: now)
                    started += 1
                }
            case 1:
                now = now + .milliseconds(Int64(command & 63) * 500)
                machine.tick(now: now)
            case 2 where command == 0xbf: machine.drain(now: now)
            case 2 where command == 0xbe: machine.transportClosed("the end")
            default:
                let length = Int(command & 63)
                machine.receive(ByteBuffer(bytes: input.prefix(length)), now: now)
                input = input.dropFirst(length)
            }
            Self.note(&machine, &ended)
            _ = machine.takeOutput()
        }
        machine.transportClosed("the end")
        Self.note(&machine, &ended)
        // Each push has one outcome for any input.
        precondition(ended.count == started, "\(started) pushes, \(ended.count) outcomes")
    }

    private static func note(_ machine: inout HTTP2ClientStateMachine, _ ended: inout Set<Int>) {
        var events: [HTTP2ClientEvent] = []
        machine.takeEvents(&events)
        for event in events {
            switch event {
            case .response(let ticket, _), .lost(let ticket, _), .notProcessed(let ticket, _):
                precondition(ended.insert(ticket).inserted, "two outcomes for push \(ticket)")
            case .ready, .draining, .finished: break
            }
        }
    }

    private static func push(_ number: Int) -> Push {
        guard let token = DeviceToken(bytes: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 32)),
            let topic = Topic(number % 3 == 0 ? "com.example.MyApp" : "com.example.Other\(number % 7)")
        else { preconditionFailure("token and topic are valid") }
        return Push(
            PushNotification(
                id: "eabeae54-14a8-11e5-b60b-1697f925ec7b",
                topic: topic,
                expiration: number % 2 == 0 ? .immediate : .servicePolicy,
                collapseID: number % 5 == 0 ? "c\(number)" : nil,
                payload: ByteBuffer(repeating: 0x61, count: number % 4 * 1500)
            ),
            to: token
        )
    }
}

/// Compares the header decoder with NIOHPACK: both decode a block to the same fields.
enum DecoderComparison {
    @Sendable static func run(_ input: [UInt8]) {
        var decoder = HeaderBlockDecoder<ResponseHeaderList>()
        HTTP2Run.compareHeaders(input) {
            try? decoder.decode($0.span)
        } compare: { list, their, block in
            guard !list.isTooLong else { return }
            let our = list.head
            precondition(our.id == Self.last("apns-id", their), "apns-id of \(block)")
            precondition(our.uniqueID == Self.last("apns-unique-id", their), "apns-unique-id of \(block)")
            precondition(our.retryAfter == Self.last("retry-after", their), "retry-after of \(block)")
            let status = Self.last(":status", their).flatMap { $0.utf8.count == 3 ? Int($0) : nil } ?? 0
            precondition(our.status == ((100...599).contains(status) ? status : 0), "status of \(block)")
        }
    }

    private static func last(_ name: String, _ headers: HPACKHeaders) -> String? {
        headers.last { $0.name == name }?.value
    }
}
