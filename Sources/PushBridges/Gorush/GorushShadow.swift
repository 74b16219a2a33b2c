import Foundation
import ProviderModel
import PushSupport
import PushTypes

/// The properties of the old server's response that are compared in shadow mode.
struct GorushResponse: Hashable, Sendable {
    let status: Int
    let counts: Int64?
    /// The error reasons in the log, by token. Tokens that are masked with asterisks are omitted.
    let reasons: [String: String]

    init(status: Int, body: Data) {
        self.status = status
        let json = (try? JSONValue(parsing: body)) ?? .null
        self.counts = json["counts"].integerValue
        let entries = json["logs"].elements.compactMap { entry -> (String, String)? in
            guard let token = entry["token"].stringValue, !token.contains("*") else { return nil }
            return (token, ShadowComparison.reason(entry["error"].stringValue ?? ""))
        }
        self.reasons = Dictionary(entries) { first, _ in first }
    }
}

extension ShadowComparison {
    /// Compares the plans for a request with the response of the old server.
    /// - Parameter answer: The response of the old server, or `nil` if no request was sent to it.
    init(_ request: GorushRequest, _ plans: [GorushPlan], _ answer: GorushResponse?, at: Timestamp) {
        self.init()
        if let answer { self.compare(status: 200, counts: Int64(request.count), answer, at: at) }
        var refused: Set<String> = []
        for plan in plans {
            if let refusal = plan.refusal {
                self.differ("notification", field: refusal.path, ours: refusal.code, theirs: "taken", at: at)
            }
            for failure in plan.failures {
                refused.insert(failure.token)
                // A content error is reported as one difference, not as one for each token.
                guard plan.refusal == nil || failure.error == Reason.badDeviceToken.text else { continue }
                let ours = Self.reason(failure.error)
                let theirs = answer.map { $0.reasons[failure.token] ?? "no failure" } ?? "not asked"
                guard ours != theirs else { continue }
                self.differ("token", field: Self.beginning(of: failure.token), ours: ours, theirs: theirs, at: at)
            }
        }
        for (token, reason) in (answer?.reasons ?? [:]).sorted(by: { $0.key < $1.key }) where !refused.contains(token) {
            self.differ("token", field: Self.beginning(of: token), ours: "would send", theirs: reason, at: at)
        }
    }

    /// Compares the error for a whole request with the response of the old server.
    init(refused error: GorushError, _ answer: GorushResponse?, at: Timestamp) {
        self.init()
        if let answer {
            self.compare(status: 400, counts: nil, answer, at: at)
        } else {
            self.differ("request", ours: error.message, theirs: "not asked", at: at)
        }
    }

    private mutating func compare(status: Int, counts: Int64?, _ answer: GorushResponse, at: Timestamp) {
        if answer.status != status { self.differ("status", ours: "\(status)", theirs: "\(answer.status)", at: at) }
        guard let counts, let theirs = answer.counts, counts != theirs else { return }
        self.differ("counts", ours: "\(counts)", theirs: "\(theirs)", at: at)
    }

    /// Returns the beginning of a token, by which its owner recognizes it. Any other string is marked `(no token)`.
    static func beginning(of token: String) -> String {
        DeviceToken(userInput: token).map { "\($0)" } ?? "\(token.prefix(4))… (no token)"
    }
}
