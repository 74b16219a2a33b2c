import NIOCore

/// The elements that wait for their turn, such as sessions that connect, those of an app in their order.
///
/// The next one is of the app with the fewest whose turn it is now: an app with many, or with slow ones, holds up few of others.
struct TurnQueue<Element: Sendable>: Sendable {
    private struct Waiting {
        /// The number in the order of arrival, over all apps.
        var number: Int
        var element: Element
    }

    private struct App {
        var running = 0
        var waiting = CircularBuffer<Waiting>()

        var isUnused: Bool { self.running == 0 && self.waiting.isEmpty }
    }

    private var apps: [Int64: App] = [:]
    private var last = 0

    mutating func add(_ element: Element, of app: Int64) {
        self.last += 1
        self.apps[app, default: App()].waiting.append(Waiting(number: self.last, element: element))
    }

    /// Takes the element whose turn it is; ``end(of:)`` follows. `nil` if none waits.
    mutating func take() -> Element? {
        let waiting = self.apps.compactMap { app, state in
            state.waiting.first.map { (app: app, order: (state.running, $0.number)) }
        }
        guard let app = waiting.min(by: { $0.order < $1.order })?.app else { return nil }
        self.apps[app]?.running += 1
        return self.apps[app]?.waiting.popFirst()?.element
    }

    /// The turn of an element of an app has ended.
    mutating func end(of app: Int64) {
        self.apps[app]?.running -= 1
        if self.apps[app]?.isUnused ?? false { self.apps[app] = nil }
    }
}
