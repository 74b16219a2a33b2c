package import Foundation

/// The caller on whose behalf the store is asked something, and what an answer may cost. It travels with the task, so that
/// every question below an API operation has it.
package struct QueryCaller: Hashable, Sendable {
    /// The purpose of a query.
    package enum Purpose: Hashable, Sendable {
        /// A person's question: one at a time for each key.
        case question
        /// A page of a file with all devices.
        case export
        /// The recipients of a notification that is being accepted or opened. Does not wait for people's questions.
        case acceptance
    }

    /// The current task's; `nil` for the store's own users, whose questions are cheap or bounded by themselves.
    @TaskLocal package static var current: QueryCaller?

    /// Time that one question may take, without the time for which it waits.
    package var budget: Duration
    package var purpose: Purpose
    /// The API key; `nil` for the provider itself.
    package var key: UUID?

    package init(budget: Duration, purpose: Purpose = .question, key: UUID? = nil) {
        self.budget = budget
        self.purpose = purpose
        self.key = key
    }
}
