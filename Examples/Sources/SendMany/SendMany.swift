import Foundation
import Logging
import PushSender
import PushTypes

/// Sends one notification to every token of a file, which may have millions:
///
///     swift run SendMany AuthKey_ABC123DEFG.p8 DEF123GHIJ com.example.MyApp tokens.txt
///
/// Memory is bounded: two pages of tokens are in flight, and the third is read when one of them is complete.
@main
struct SendMany {
    static let pageSize = 5000
    static let pagesInFlight = 2

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let topic = Topic(arguments[3]) else {
            print("usage: SendMany KEY_FILE TEAM_ID TOPIC TOKEN_FILE")
            exit(64)
        }
        let credential = try PushCredential.load(file: arguments[1], teamID: arguments[2])
        let sender = try Sender(to: .apple(.production), credential: credential, logger: Logger(label: "push"))
        let notification = PushNotification(topic: topic, payload: #"{"aps":{"alert":"Hello, everybody"}}"#)
        var pages = try TokenPages(path: arguments[4], pageSize: self.pageSize)

        var total = Counts()
        try await withThrowingTaskGroup(of: Counts.self) { group in
            var inFlight = 0
            while let page = try pages.next() {
                if inFlight == self.pagesInFlight, let counts = try await group.next() {
                    total += counts
                    print("\(total.all) pushes: \(total)")
                    inFlight -= 1
                }
                group.addTask { await self.send(notification, to: page, with: sender) }
                inFlight += 1
            }
            for try await counts in group { total += counts }
        }
        print("finished, \(total.all) pushes: \(total)")
        await sender.close()
    }

    /// Sends a page and says what to do about each push that was not accepted.
    private static func send(
        _ notification: PushNotification,
        to tokens: [DeviceToken],
        with sender: Sender
    ) async -> Counts {
        let pushes = tokens.map { token in
            // The copies share the payload's memory; each push has an id of its own.
            var notification = notification
            notification.id = PushNotification.makeID()
            return Push(notification, to: token)
        }
        var counts = Counts()
        for await result in sender.results(of: pushes) {
            let token = pushes[result.index].token
            switch result.outcome {
            case .accepted:
                counts.accepted += 1
            case .rejected(let rejection) where rejection.advice == .dropToken:
                counts.rejected += 1
                print("remove \(token) unless it was registered after \(rejection.timestamp?.seconds ?? 0)")
            case .rejected(let rejection):
                counts.rejected += 1
                print("\(token): \(rejection.reasonText), advice: \(rejection.advice)")
            case .notSent(let failure):
                counts.notSent += 1
                print("send to \(token) again: \(failure)")
            case .unknown(let failure):
                counts.unknown += 1
                print("\(token) may have it or not: \(failure)")
            }
        }
        return counts
    }
}

/// The number of pushes with each outcome.
struct Counts: CustomStringConvertible {
    var accepted = 0
    var rejected = 0
    var notSent = 0
    var unknown = 0

    var all: Int { self.accepted + self.rejected + self.notSent + self.unknown }

    var description: String {
        "\(self.accepted) accepted, \(self.rejected) rejected, \(self.notSent) not sent, \(self.unknown) unknown"
    }

    static func += (left: inout Counts, right: Counts) {
        left.accepted += right.accepted
        left.rejected += right.rejected
        left.notSent += right.notSent
        left.unknown += right.unknown
    }
}
