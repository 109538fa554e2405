import Encoding
import NIOCore
import Testing

@testable import LoadGenerator

@Suite struct `A plan of a load` {
    @Test func `a route has the values of the file, and 16 connections without a number`() throws {
        let plan = try plan(
            #"{"name":"a","requests":"a.txt","per_second":2.5,"connections":3,"headers":{"accept-encoding":"gzip"}}"#,
            #"{"name":"b","requests":"b.txt","per_second":1}"#)
        let first = LoadPlan.Route(
            name: "a", requests: "a.txt", perSecond: 2.5, connections: 3, headers: [("accept-encoding", "gzip")])
        let second = LoadPlan.Route(name: "b", requests: "b.txt", perSecond: 1, connections: 16, headers: [])
        #expect(plan.routes == [first, second])
    }

    @Test func `another total keeps the proportions`() throws {
        let plan = try plan(
            #"{"name":"a","requests":"a.txt","per_second":30}"#, #"{"name":"b","requests":"b.txt","per_second":10}"#)
        #expect(plan.scaled(toPerSecond: 1_000).routes.map(\.perSecond) == [750, 250])
    }

    @Test func `routes with the same rate send at different moments`() throws {
        let route = #"{"name":"a","requests":"a.txt","per_second":1000}"#
        #expect(try plan(route, route, route, route).schedules.map(\.first) == [0, 250_000, 500_000, 750_000])
    }

    @Test(arguments: [
        (#"{"requests":"a.txt","per_second":1}"#, "a route of the plan lacks its name or its requests"),
        (#"{"name":"a","requests":"a.txt"}"#, "route a needs a per_second above 0"),
        (#"{"name":"a","requests":"a.txt","per_second":0}"#, "route a needs a per_second above 0"),
        (#"{"name":"a","requests":"a.txt","per_second":1,"connections":0}"#, "route a needs one connection or more"),
        (#"{"name":"a","requests":"a.txt","per_second":1,"headers":{"b":1}}"#, "header b of route a is no string"),
    ])
    func `an unusable route is refused with the reason`(route: String, reason: String) {
        #expect(throws: LoadPlanError(reason: reason)) { try plan(route) }
    }

    @Test func `a plan without routes is refused`() {
        #expect(throws: LoadPlanError(reason: "the plan has no routes")) { try plan() }
    }

    private func plan(_ routes: String...) throws -> LoadPlan {
        try LoadPlan(JSON(utf8: Array(#"{"routes":[\#(routes.joined(separator: ","))]}"#.utf8)))
    }
}

@Suite struct `A file of requests` {
    @Test func `a line becomes a request with the headers of its route`() throws {
        let file = try RequestFile(
            "GET /v1/events/7\nPOST /v1/events {\"name\": \"é\"}\n", host: "127.0.0.1:80", headers: [("accept", "a/b")])
        #expect(
            file.requests.map { String(buffer: $0) } == [
                "GET /v1/events/7 HTTP/1.1\r\nhost: 127.0.0.1:80\r\naccept: a/b\r\n\r\n",
                "POST /v1/events HTTP/1.1\r\nhost: 127.0.0.1:80\r\naccept: a/b\r\ncontent-length: 14\r\n\r\n{\"name\": \"é\"}",
            ])
    }

    @Test func `a request other than GET without a body announces an empty one`() throws {
        let file = try RequestFile("DELETE /v1/events/7/attendance", host: "a", headers: [])
        #expect(
            String(buffer: file[0])
                == "DELETE /v1/events/7/attendance HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n")
    }

    @Test func `the file repeats without end`() throws {
        let file = try RequestFile("GET /a\nGET /b\n", host: "a", headers: [])
        #expect([0, 1, 2, 3].map { file[$0] } == [file.requests[0], file.requests[1], file.requests[0], file.requests[1]])
    }

    @Test func `a line without a path is refused with its number`() {
        #expect(throws: LoadPlanError(reason: "line 2 is no METHOD PATH BODY")) {
            try RequestFile("GET /a\nGET\n", host: "a", headers: [])
        }
    }

    @Test func `an empty file is refused`() {
        #expect(throws: LoadPlanError(reason: "the file of requests is empty")) {
            try RequestFile("\n", host: "a", headers: [])
        }
    }
}
