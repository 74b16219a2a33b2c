import Foundation
import Fuzzing
import ProviderModel
import PushSupport
import PushTypes

@testable import PushBridges

/// Fuzzes the bodies of gorush's clients, and the answers of an old server. The first byte of an input selects one.
@main
enum GorushFuzz {
    /// The stack of a thread on some systems, in bytes.
    private static let stackSize = 512 * 1024

    static func main() {
        Fuzzer.run(stackSize: Self.stackSize) { input in
            let rest = Data(input.dropFirst())
            switch input.first.map({ $0 & 3 }) {
            case 3: Self.answer(rest)
            case nil: break
            default: Self.request(rest)
            }
        }
    }

    /// Checks that every push of a request is one that the provider accepts, or has an explanation.
    private static func request(_ body: Data) {
        guard let request = try? GorushRequest(body), let app = Topic("com.example.MyApp") else { return }
        precondition(request.notifications.count <= GorushRequest.standardNotifications)
        precondition(request.count >= request.notifications.reduce(0) { $0 + $1.tokens.count })
        let now = Timestamp(seconds: 1_700_000_000)
        for notification in request.notifications {
            do throws(RequestError) {
                let checked = try notification.push(to: app, now: now).checked(for: app, now: now)
                precondition((try? JSONValue(parsing: checked.content.payload)) != nil, "the payload is no JSON")
                precondition(checked.content.payload.count <= 5120, "\(checked.content.payload.count) bytes")
            } catch {
                precondition(!GorushFailure.text(error).isEmpty)
            }
            let entry = GorushLogEntry(notification, token: "", error: "")
            precondition(entry.message.utf8.count <= 256 && (entry.id ?? "").utf8.count <= 256)
            precondition((try? entry.json.text) != nil)
        }
    }

    /// Checks that nothing of an old server's answer is kept but reasons.
    private static func answer(_ body: Data) {
        let answer = GorushResponse(status: 200, body: body)
        for reason in answer.reasons.values {
            precondition(reason.utf8.count <= 64, reason)
        }
    }
}
