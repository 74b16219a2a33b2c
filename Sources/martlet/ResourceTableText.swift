import Foundation
import PushHTTP
import PushSupport

/// The table of what callers compete for, as docs/security.md has it.
enum ResourceTableText {
    /// The lines of docs/security.md between which the table is.
    static let markers = (begin: "<!-- resources: begin -->", end: "<!-- resources: end -->")

    static var markdown: String {
        let head = """
            | Resource | Whole | App | Caller | Waiting | Setting | Refusal |
            |---|---|---|---|---|---|---|

            """
        return PushSupport.BudgetedResource.allCases.reduce(into: head) { $0 += self.line($1) + "\n" }
    }

    private static func line(_ resource: PushSupport.BudgetedResource) -> String {
        let row = resource.row
        let bounds = row.limits.bounds
        let cells = [
            "`\(resource.rawValue)`: \(row.noun)", self.text(bounds.whole), self.text(bounds.app),
            bounds.caller.map { "\(row.caller): \(self.text($0))" } ?? "", self.waiting(row.limits),
            row.setting.map { "`\($0)`" } ?? "",
            row.outcome ?? "\("\(row.kind.status)".prefix(3)) `\(row.code)`: \(row.remedy)",
        ]
        return "| \(cells.joined(separator: " | ")) |"
    }

    private static func text(_ bound: BudgetBound?) -> String {
        switch bound {
        case nil: ""
        case .held(let most): "\(most) at a time"
        case .timesFree(1): "as much as is free"
        case .timesFree(let times): "\(times) times what is free"
        case .rate(let rate, let burst) where rate < 1:
            "\(self.number(60 * rate)) a minute, \(self.number(burst)) at once"
        case .rate(let rate, let burst): "\(self.number(rate)) a second, \(self.number(burst)) at once"
        }
    }

    private static func waiting(_ limits: BudgetLimits) -> String {
        guard let waiting = limits.waiting else { return "" }
        let levels = BudgetLevel.allCases.compactMap { level in waiting[level].map { "\(level.rawValue) \($0)" } }
        return "\(levels.joined(separator: ", ")); \(limits.patience.components.seconds) s"
    }

    private static func number(_ value: Double) -> String { "\(Int(value))" }
}
