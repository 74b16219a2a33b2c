import ProviderModel
import PushTesting
import Synchronization

@testable import PushProvider

/// A publisher's server without a socket. Questions wait for their answers if the test says so.
final class ScriptedPublisher: PublisherServer {
    typealias Answer = Result<PublisherResponse, PublisherFailure>

    private struct State {
        var questions: [PublisherRequest] = []
        var answers: [Answer] = []
        var usual: Answer = .success(.entitled([]))
        var isHeld = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var questions: [PublisherRequest] { self.state.withLock { $0.questions } }

    /// The next answers, one after the other.
    func script(_ answers: Answer...) { self.state.withLock { $0.answers += answers } }

    /// The answer where none is scripted.
    func answer(_ answer: Answer) { self.state.withLock { $0.usual = answer } }

    /// Holds questions back until ``release()``.
    func hold() { self.state.withLock { $0.isHeld = true } }

    func release() {
        let waiting = self.state.withLock { state in
            defer { state.waiting = [] }
            state.isHeld = false
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until there were so many questions.
    func waitForQuestions(_ count: Int) async throws {
        try await eventually { self.questions.count >= count }
    }

    func ask(
        _ question: PublisherRequest,
        _ server: EntitlementServerRecord
    ) async throws(PublisherFailure) -> PublisherResponse {
        let answer = self.state.withLock { state in
            state.questions.append(question)
            return state.answers.isEmpty ? state.usual : state.answers.removeFirst()
        }
        await withCheckedContinuation { continuation in
            let isHeld = self.state.withLock { state in
                if state.isHeld { state.waiting.append(continuation) }
                return state.isHeld
            }
            if !isHeld { continuation.resume() }
        }
        return try answer.get()
    }
}
