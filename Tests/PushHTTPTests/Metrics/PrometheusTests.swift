import Metrics
import PushHTTP
import Testing

/// The text format of Prometheus.
@Suite struct PrometheusTests {
    @Test func gaugesKeepTheirOrderAndShareAHead() async throws {
        let gauges = GaugeRegistry()
        gauges.add("connections", "Open ones.", labels: ["listener": "http2"]) { 2 }
        gauges.add("memory", "In bytes.", .counter) { 3 }
        gauges.add("connections", "Open ones.", labels: ["listener": "admin", "environment": "a\"b\\c\nd"]) { 1 }
        gauges.add("none", "Without samples.") { [] }
        #expect(
            try await gauges.text() == """
                # HELP connections Open ones.
                # TYPE connections gauge
                connections{listener="http2"} 2
                connections{environment="a\\"b\\\\c\\nd",listener="admin"} 1
                # HELP memory In bytes.
                # TYPE memory counter
                memory 3
                # HELP none Without samples.
                # TYPE none gauge

                """
        )
    }

    @Test func aDescriptionGivesTheHelpAndTheBuckets() {
        let registry = PrometheusRegistry([
            MetricDescription("wait_seconds", "Time in the queue.", buckets: [1, 60]),
            MetricDescription("pushes_total", "Pushes."),
        ])
        Counter(label: "pushes", dimensions: [], factory: registry).increment()
        let timer = Metrics.Timer(label: "wait", dimensions: [("lane", "bulk")], factory: registry)
        timer.recordSeconds(60)
        timer.recordSeconds(61)
        #expect(
            registry.text == """
                # HELP pushes_total Pushes.
                # TYPE pushes_total counter
                pushes_total 1
                # HELP wait_seconds Time in the queue.
                # TYPE wait_seconds histogram
                wait_seconds_bucket{lane="bulk",le="1.0"} 0
                wait_seconds_bucket{lane="bulk",le="60.0"} 1
                wait_seconds_bucket{lane="bulk",le="+Inf"} 2
                wait_seconds_sum{lane="bulk"} 121
                wait_seconds_count{lane="bulk"} 2

                """
        )
    }

    @Test func theProcessReportsItself() async throws {
        let gauges = GaugeRegistry()
        gauges.addProcess()
        let text = try await gauges.text()
        for name in ["resident_memory_bytes", "cpu_seconds_total", "open_fds", "max_fds", "start_time_seconds"] {
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("process_\(name) ") })
            #expect(try #require(Double(line.split(separator: " ")[1])) > 0)
        }
    }

    @Test func countersAndTimersAreNamedBySuffix() {
        let registry = PrometheusRegistry()
        let one = Counter(label: "requests", dimensions: [("status", "200")], factory: registry)
        Counter(label: "requests_total", dimensions: [("status", "200")], factory: registry).increment(by: 2)
        one.increment()
        Gauge(label: "queue", dimensions: [], factory: registry).record(1.5)
        let timer = Metrics.Timer(label: "duration", dimensions: [], factory: registry)
        timer.recordMilliseconds(30)
        timer.recordSeconds(60)
        let text = registry.text
        #expect(text.contains("# TYPE requests_total counter\nrequests_total{status=\"200\"} 3\n"))
        #expect(text.contains("# TYPE queue gauge\nqueue 1.5\n"))
        #expect(text.contains("# TYPE duration_seconds histogram\n"))
        #expect(text.contains("duration_seconds_bucket{le=\"0.025\"} 0\n"))
        #expect(text.contains("duration_seconds_bucket{le=\"0.05\"} 1\n"))
        #expect(text.contains("duration_seconds_bucket{le=\"10.0\"} 1\n"))
        #expect(text.contains("duration_seconds_bucket{le=\"+Inf\"} 2\n"))
        #expect(text.contains("duration_seconds_sum 60.03\n"))
        #expect(text.contains("duration_seconds_count 2\n"))
    }
}
